import { describe, expect, it } from 'vitest'
import { entryNumber, operationId, sessionId } from '../base/ids.ts'
import type { AttemptRow, OperationRow, SessionRow } from '../store/rows.ts'
import { compactionView, spendOn } from './views.ts'

const ROW: OperationRow = {
  id: operationId('o'),
  sessionId: sessionId('s'),
  by: 'model',
  trigger: 'background',
  reason: 'over the soft limit',
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
  compactionView({ ...ROW, ...row }, SESSION, { spend: null, heldSince })

describe('compactionView', () => {
  it('counts as waited for only what a turn stood still', () => {
    expect(view({}).waitMs).toBe(0)
    expect(view({}, 4_000).waitMs).toBe(1_000)
    // It came to a stop before this one began: what it waited for then was another.
    expect(view({}, 200).waitMs).toBe(4_000)
    expect(view({ trigger: 'preflight' }).waitMs).toBe(4_000)
    expect(view({ trigger: 'preflight', endedAt: null }).waitMs).toBe(0)
  })

  it('names the rung, the digest as the last, and why one came to nothing', () => {
    expect(view({})).toMatchObject({ rung: 'main', failure: null, isInEffect: true })
    expect(view({ by: 'digest', result: { entry: 6 } }).rung).toBe('digest')
    const failed = view({ state: 'failed', result: { reason: 'refused:overloaded' } })
    expect(failed).toMatchObject({ rung: null, failure: 'refused:overloaded', isInEffect: false })
  })
})

describe('spendOn', () => {
  const call = (at: number, more: Partial<AttemptRow> = {}) =>
    ({ task: 'compaction', at, inputTokens: 10, outputTokens: 2, cost: 5, ...more }) as AttemptRow

  it('adds up the calls for summaries of its time, and nothing else', () => {
    const attempts = [
      call(6_000),
      call(5_000),
      call(3_000, { task: 'turn' }),
      call(1_000),
      call(999),
    ]
    const sum = { calls: 2, inputTokens: 20, outputTokens: 4, cost: 10 }
    expect(spendOn(ROW, attempts)).toEqual(sum)
  })

  it('claims no price where one call has none', () => {
    expect(spendOn(ROW, [call(2_000), call(3_000, { cost: null })]).cost).toBeNull()
  })
})
