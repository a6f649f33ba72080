import { describe, expect, it } from 'vitest'
import { entryNumber, operationId, sessionId } from '#core/base/ids'
import { spendOnCompaction } from '#core/session/view/compaction-report'
import type { AttemptRow, Entry, OperationRow, SessionRow } from '#core/store/tables/rows'
import { compactionView, undoneIn } from './compaction-view.ts'

const ROW: OperationRow = {
  id: operationId('o'),
  sessionId: sessionId('s'),
  by: 'model',
  trigger: 'background',
  reason: 'over the soft limit',
  requestedBy: null,
  fence: 1,
  base: entryNumber(0),
  covers: entryNumber(4),
  previous: entryNumber(0),
  state: 'committed',
  result: { entry: 6, tokensBefore: 900, tokensAfter: 300, rung: 'main' },
  startedAt: 1_000,
  endedAt: 5_000,
}
const SESSION = { effective: entryNumber(6) } as SessionRow
const view = (row: Partial<OperationRow>, heldSince: number | null = null) =>
  compactionView({ ...ROW, ...row }, SESSION, { spend: null, heldSince, isUndone: false })

describe('compactionView', () => {
  it('counts only the time during which a turn was blocked', () => {
    expect(view({}).waitMs).toBe(0)
    expect(view({}, 4_000).waitMs).toBe(1_000)
    // The turn stopped before this one began, so it waited for another compaction.
    expect(view({}, 200).waitMs).toBe(4_000)
    expect(view({ trigger: 'preflight' }).waitMs).toBe(4_000)
    expect(view({ trigger: 'preflight', endedAt: null }).waitMs).toBe(0)
  })

  it('names the rung, with the digest as the last one, and why a compaction failed', () => {
    expect(view({})).toMatchObject({ rung: 'main', failure: null, isInEffect: true })
    expect(view({ by: 'digest', result: { entry: 6 } }).rung).toBe('digest')
    const failed = view({ state: 'failed', result: { reason: 'refused:overloaded' } })
    expect(failed).toMatchObject({ rung: null, failure: 'refused:overloaded', isInEffect: false })
  })
})

describe('undoneIn', () => {
  const made = (entry: number, more: Partial<OperationRow> = {}): OperationRow => ({
    ...ROW,
    ...{ base: entryNumber(0), covers: entryNumber(entry - 1), result: { entry } },
    ...more,
  })
  const change = (number: number, kind: string, meta: object, by?: string) =>
    ({ number, kind, meta, body: by === undefined ? null : JSON.stringify({ by }) }) as never
  const undo = (number: number, previous: number, to?: number) =>
    change(number, 'revert', { target: 0, previous, ...(to !== undefined && { to }) })
  const entriesIn = (entries: readonly number[], changes: readonly Entry[] = []) =>
    [...undoneIn(entries.map((entry) => made(entry)).toReversed(), changes)]
      .map(({ result }) => result['entry'])
      .reverse()

  it('distinguishes undone compactions from those that a later one replaced', () => {
    expect(entriesIn([10, 20])).toEqual([])
    expect(entriesIn([10, 20], [undo(25, 10)])).toEqual([20])
    expect(entriesIn([10, 20], [undo(25, 10), undo(26, 0)])).toEqual([10, 20])
    expect(undoneIn([made(9, { state: 'failed' })], [])).toEqual(new Set())
    // The second was undone, and a third took its place.
    expect(entriesIn([10, 20, 30], [undo(25, 10)])).toEqual([20])
    expect(entriesIn([10, 20, 30], [undo(25, 10), undo(35, 0)])).toEqual([10, 20, 30])
  })

  it('shows a compaction as undone after a rewind to before it, until the conversation returns', () => {
    expect(entriesIn([10, 20], [undo(25, 0, 5)])).toEqual([10, 20])
    expect(entriesIn([10, 20], [undo(25, 10, 15)])).toEqual([20])
    expect(entriesIn([10, 20], [undo(25, 0, 5), undo(30, 20, 22)])).toEqual([])
  })

  it.each(['leave', 'client compaction'])(
    'shows a compaction as replaced by the %s of a client',
    (by) => {
      const away = change(25, 'revert', { target: 20, previous: 0, to: 0 }, by)
      expect(entriesIn([10, 20], [away])).toEqual([])
      expect(entriesIn([10, 20, 30], [away])).toEqual([])
      expect(entriesIn([10, 20, 30], [away, undo(35, 0)])).toEqual([30])
      expect(entriesIn([10, 20], [undo(22, 10), away])).toEqual([20])
    },
  )

  it('shows a compaction as replaced if an erasure rewrote it', () => {
    const again = change(25, 'erasure', { entries: [3], replaces: { covers: 9, previous: 0 } })
    expect(entriesIn([10], [again])).toEqual([])
    expect(entriesIn([10], [again, undo(30, 0)])).toEqual([10])
    expect(entriesIn([10, 30], [again, undo(35, 25)])).toEqual([30])
    expect(entriesIn([10], [change(25, 'erasure', { entries: [12], replaces: null })])).toEqual([])
  })

  it('shows a digest as replaced by its rewrite, and as undone with it', () => {
    expect(entriesIn([10, 20, 22])).toEqual([])
    expect(entriesIn([10, 20, 22], [undo(25, 10)])).toEqual([20, 22])
    // One on top of the digest was undone before the rewrite.
    expect(entriesIn([10, 20, 30, 40], [undo(35, 20)])).toEqual([30])
  })
})

describe('the spend of a compaction', () => {
  const call = (at: number, more: Partial<AttemptRow> = {}) =>
    ({ task: 'compaction', at, inputTokens: 10, outputTokens: 2, cost: 5, ...more }) as AttemptRow

  it('adds up the summary calls during its time, and nothing else', () => {
    const attempts = [
      call(6_000),
      call(5_000),
      call(3_000, { task: 'turn' }),
      call(1_000),
      call(999),
    ]
    const sum = { calls: 2, inputTokens: 20, outputTokens: 4, cost: 10 }
    expect(spendOnCompaction(ROW, attempts)).toEqual(sum)
  })

  it('reports no price if one call has none', () => {
    expect(spendOnCompaction(ROW, [call(2_000), call(3_000, { cost: null })])?.cost).toBeNull()
  })
})
