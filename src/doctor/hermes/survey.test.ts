import { describe, expect, it } from 'vitest'
import { traceLineage } from './findings/lineage.ts'
import { findTranscriptFaults } from './findings/transcript.ts'
import type { HermesRow, HermesSession } from './rows.ts'
import { Surveyor } from './survey.ts'

const SESSION: HermesSession = {
  ...{ id: 's', source: 'telegram', parentId: null, startedAt: 0, endedAt: null, endReason: null },
  ...{ origin: null, model: null, title: null, sessionKey: null, messageCount: null },
  ...{ toolCallCount: null, cooldownUntil: null, cooldownError: null },
  ...{ fallbackStreak: 0, ineffectiveCount: 0 },
}

function row(id: number, more: Partial<HermesRow>): HermesRow {
  return {
    ...{ id, sessionId: 's', role: 'assistant', text: '', contentBytes: 0, at: id, state: 'live' },
    ...{ isSummary: false, toolCallId: null, callIds: [] },
    ...more,
  }
}

describe('Surveyor', () => {
  it('counts every call that is never answered and holds only a few', () => {
    const calls = 150_000
    const surveyor = new Surveyor([SESSION])
    for (let id = 1; id <= calls; id++) surveyor.take(row(id, { callIds: [`a${id}`, `b${id}`] }))
    surveyor.take(row(calls + 1, { role: 'user' }))
    const survey = surveyor.end()
    expect(survey.sessions.get('s')?.openCalls.size).toBeLessThanOrEqual(1_000)
    const view = { survey, lineage: traceLineage(survey), routes: [], now: 0 }
    const [fault] = findTranscriptFaults(view)
    expect(fault).toMatchObject({ kind: 'broken-tool-pair', rowCount: calls })
    expect(fault?.rows.length).toBeLessThan(1_000)
  })
})
