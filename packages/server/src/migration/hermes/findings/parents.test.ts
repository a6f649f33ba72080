import { describe, expect, it } from 'vitest'
import { Surveyor } from '../diagnose/survey.ts'
import type { HermesSession } from '../read/rows.ts'
import { followRule } from './follow.ts'
import { traceLineage } from './lineage.ts'
import { findParentFaults } from './parents.ts'

function session(id: string, over: Partial<HermesSession> = {}): HermesSession {
  return {
    ...{ id, parentId: null, source: 'telegram', startedAt: 100, endedAt: null, endReason: null },
    ...{ lastActivityAt: null, origin: null, model: null, title: null, sessionKey: null },
    ...{ toolCallCount: null, cooldownUntil: null, cooldownError: null },
    ...{ fallbackStreak: 0, ineffectiveCount: 0 },
    ...over,
  }
}

/** Each session has one row, a second after its start; a handoff if it has a parent. */
function faultsOf(sessions: readonly HermesSession[], version = 16) {
  const surveyor = new Surveyor(sessions)
  for (const [index, { id, startedAt, parentId }] of sessions.entries()) {
    surveyor.take({
      ...{ id: index + 1, sessionId: id, role: 'user', contentBytes: 5 },
      text: parentId === null ? 'hello' : '[CONTEXT COMPACTION] Earlier turns.',
      ...{ at: (startedAt ?? 0) + 1, state: 'live', isSummary: false, toolCallId: null },
      ...{ callIds: [], otherNames: null },
    })
  }
  const survey = surveyor.end()
  const schema = { version, columns: new Map(), remarks: [], isExport: false }
  const lineage = traceLineage({ ...survey, rule: followRule(schema) })
  return findParentFaults({ survey, lineage, schema }).map((found) => ({
    ...{ kind: found.kind, sessionIds: found.sessionIds, facts: found.facts },
    ...{ from: found.from, to: found.to },
  }))
}

describe('findParentFaults', () => {
  const parent = session('p', { endReason: 'compression', endedAt: 200 })
  const child = (startedAt: number, more: Partial<HermesSession> = {}) =>
    session('c', { parentId: 'p', startedAt, ...more })

  it('finds a session that an older version would not find after its parent', () => {
    expect(faultsOf([parent, child(150)])).toEqual([
      {
        ...{ kind: 'hidden-continuation', sessionIds: ['p', 'c'] },
        ...{ facts: { parent: 'p', next: 'c' }, from: 150, to: 200 },
      },
    ])
  })

  it.each<[string, readonly HermesSession[], number?]>([
    ['began at the closing', [parent, child(200)]],
    ['is read by a later version', [parent, child(150)], 17],
    ['stands beside one that is found', [parent, child(150), { ...child(210), id: 'd' }]],
    ['has a parent that something else ended', [{ ...parent, endReason: 'reset' }, child(150)]],
    ['has a parent without a closing', [{ ...parent, endedAt: null }, child(150)]],
    ['has no parent', [parent, child(150, { parentId: null })]],
  ])('finds nothing if it %s', (_, sessions, version) => {
    expect(faultsOf(sessions, version)).toEqual([])
  })

  it('finds a parent that does not exist', () => {
    expect(faultsOf([child(150)])).toMatchObject([
      {
        ...{ kind: 'parent-missing', sessionIds: ['c', 'p'], from: 150 },
        facts: { sessionId: 'c', parentId: 'p' },
      },
    ])
  })

  it('finds a session that is its own parent, and two that are each other’s', () => {
    expect(faultsOf([session('a', { parentId: 'a' })])).toMatchObject([
      { kind: 'parent-circle', sessionIds: ['a'], facts: { sessionId: 'a', parentId: 'a' } },
    ])
    const two = [session('a', { parentId: 'b' }), session('b', { parentId: 'a', startedAt: 200 })]
    expect(faultsOf(two)).toMatchObject([
      { kind: 'parent-circle', sessionIds: ['a', 'b'], facts: { sessionId: 'a', parentId: 'b' } },
    ])
  })
})
