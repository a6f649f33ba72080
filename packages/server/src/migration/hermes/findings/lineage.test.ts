import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../../test/support/timing.ts'
import type { HermesSession } from '../read/rows.ts'
import type { FollowCandidate } from './follow.ts'
import { linkUp } from './lineage.ts'

function candidate(id: string, parentId: string | null): FollowCandidate {
  const session: HermesSession = {
    ...{ id, parentId, source: 'telegram', startedAt: 1, endedAt: 1, endReason: 'compression' },
    ...{
      lastActivityAt: null,
      origin: null,
      model: null,
      title: null,
      sessionKey: null,
      toolCallCount: null,
    },
    ...{ cooldownUntil: null, cooldownError: null, fallbackStreak: 0, ineffectiveCount: 0 },
  }
  return { session, rows: 1 }
}

function linked(pairs: readonly (readonly [string, string | null])[]) {
  const sessions = new Map(pairs.map(([id, parentId]) => [id, candidate(id, parentId)]))
  return linkUp(sessions, {
    rule: 'ranked',
    anyEnd: false,
    isContinuation: () => true,
    lastRowAt: () => null,
  })
}

describe('linkUp', () => {
  it('follows a long conversation in one walk', () => {
    const prepare = (length: number) => {
      const ids = Array.from({ length }, (_, index) => `s${index}`)
      return () => {
        const { rootOf, tipOf } = linked(ids.map((id, index) => [id, ids[index - 1] ?? null]))
        expect(new Set(ids.map(rootOf))).toEqual(new Set(['s0']))
        expect(new Set(ids.map(tipOf))).toEqual(new Set([`s${length - 1}`]))
      }
    }
    expect(costOfTenfold(prepare, { size: 300 })).toBeLessThan(20)
  })

  it('stops in a circle of parents before it repeats, in any order of queries', () => {
    const { rootOf } = linked([
      ['a', 'c'],
      ['b', 'a'],
      ['c', 'b'],
      ['in', 'a'],
    ])
    const all = () => ['a', 'b', 'c', 'in'].map(rootOf)
    expect(all()).toEqual(['b', 'c', 'a', 'b'])
    expect(all()).toEqual(['b', 'c', 'a', 'b'])
  })
})
