import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import { type WatchedRow, Watcher } from './watcher.ts'

describe('a watcher', () => {
  it('records the messages admitted during a compaction, and reports its start', () => {
    const begun: string[] = []
    const watcher = watch(
      [
        ['message admitted', { mail: 1 }],
        ['compaction started', {}],
        ['message admitted', { mail: 2 }],
        ['compaction committed', {}],
        ['message admitted', { mail: 3 }],
        ['compaction started', {}],
        ['message admitted', { mail: 4 }],
        ['compaction failed', { reason: 'aborted' }],
        ['message admitted', { mail: 5 }],
      ],
      (agent) => begun.push(agent),
    )
    expect(watcher.of('agent-1')).toMatchObject({ compactions: 1, failed: 1, torn: 1 })
    expect([...watcher.of('agent-1').meanwhile]).toEqual([2, 4])
    expect(begun).toEqual(['agent-1', 'agent-1'])
  })

  it('counts of each session what happened to it', () => {
    const watcher = watch([
      ...(['superseded', 'abandoned', 'failed'] as const).flatMap(
        (end) =>
          [
            ['compaction started', {}],
            [`compaction ${end}`, { reason: 'aborted' }],
            ['message admitted', { mail: 1 }],
          ] as const,
      ),
      ...[['compaction started', {}] as const, ['compaction failed', { reason: 'other' }] as const],
      ...[['turn ended', {}] as const, ['compaction started', {}] as const],
    ])
    watcher.hear({ ...row(30, 'turn ended', {}), sessionId: 'agent-2' as never })
    expect(watcher.of('agent-1')).toEqual({
      ...{ compactions: 0, failed: 4, torn: 3, takeOvers: 0, turns: 1 },
      ...{ isCompacting: true, isHeld: false, meanwhile: new Set() },
    })
    expect(watcher.of('agent-3')).toEqual({
      ...{ compactions: 0, failed: 0, torn: 0, takeOvers: 0, turns: 0 },
      ...{ isCompacting: false, isHeld: false, meanwhile: new Set() },
    })
    expect(watcher.sum(({ turns, failed }) => turns + failed)).toBe(6)
  })

  it('reports a turn that is recovered twice under one fence', () => {
    const recovered = [1, 2, 1, 1].map((fence) => ['turn recovered', { fence }] as const)
    const watcher = watch(recovered)
    expect(watcher.recoveredTwice).toEqual([...Array(2)].map(() => 'agent-1 under fence 1'))
  })

  it('watches until it is told to end', async () => {
    const ended = new AbortController()
    const asked: unknown[] = []
    const store = {
      readAudit: async (query: unknown) => {
        asked.push(query)
        if (asked.length === 2) ended.abort()
        return []
      },
    }
    await new Watcher(store, () => {}).run(ended.signal)
    expect(asked).toEqual([
      { after: 0, limit: 500 },
      { after: 0, limit: 500 },
    ])
  })

  it('reports a take-over if the previous holder did not release the session', () => {
    const watcher = watch([
      ['lease acquired', { fence: 1 }],
      ['lease released', { fence: 1 }],
      ['lease acquired', { fence: 2 }],
      ['lease acquired', { fence: 3 }],
    ])
    expect(watcher.of('agent-1').takeOvers).toBe(1)
  })

  it('records how each lease ended, by its fence', () => {
    const watcher = watch([
      ['lease acquired', { fence: 1, runner: 'a' }],
      ['lease released', { fence: 1, reason: 'shutdown' }],
      ['lease acquired', { fence: 2, runner: 'b' }],
      ['lease lost', { fence: 2, runner: 'b' }],
      ['lease acquired', { fence: 3, runner: 'a' }],
    ])
    const sessionId = 'agent-1'
    expect(watcher.leases).toEqual([
      { sessionId, fence: 1, runner: 'a', ended: 'shutdown' },
      { sessionId, fence: 2, runner: 'b', ended: 'lost' },
      { sessionId, fence: 3, runner: 'a', ended: null },
    ])
  })

  it('reads page after page, and each row once', async () => {
    const rows = Array.from({ length: 1_200 }, (_, at) => row(at + 1, 'turn ended', {}))
    const store = {
      readAudit: async ({ after, limit }: { after: number; limit: number }) =>
        rows.slice(after, after + limit) as never,
    }
    const watcher = new Watcher(store, () => {})
    await watcher.read()
    await watcher.read()
    expect(watcher.sum(({ turns }) => turns)).toBe(1_200)
  })
})

function watch(
  told: readonly (readonly [WatchedRow['kind'], JsonObject])[],
  onCompaction: (agent: string) => void = () => {},
): Watcher {
  const watcher = new Watcher({ readAudit: async () => [] }, onCompaction)
  for (const [at, [kind, facts]] of told.entries()) watcher.hear(row(at + 1, kind, facts))
  return watcher
}

function row(cursor: number, kind: WatchedRow['kind'], facts: JsonObject): WatchedRow {
  return { cursor, sessionId: 'agent-1' as WatchedRow['sessionId'], kind, facts }
}
