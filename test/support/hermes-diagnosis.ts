import type {
  Diagnosis,
  HermesConversation,
  ProfileDiagnosis,
  StoreFacts,
} from '../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import type { Finding } from '../../packages/server/src/migration/hermes/findings/finding.ts'

/** 14 November 2023, 22:13:20 UTC. */
export const AT = 1_700_000_000

export function finding(over: Partial<Finding> = {}): Finding {
  return {
    ...{ kind: 'fork', severity: 'harm', certainty: 'certain', sessionIds: ['s1'] },
    ...{ title: 'Two branches', explanation: 'Both go on.', advice: 'Keep one.' },
    ...{ from: AT, to: null, clock: 'store', facts: {}, rows: [], rowCount: 0, lines: [] },
    ...over,
  }
}

export const READ: StoreFacts = {
  ...{ kind: 'read', path: '/home/state.db', schemaVersion: 26, sessions: 2, rows: 3, liveRows: 1 },
}

export function profile(over: Partial<ProfileDiagnosis> = {}): ProfileDiagnosis {
  return {
    ...{ name: 'default', store: READ, logs: { paths: [], lines: 0 }, zoneSeconds: null },
    ...{ remarks: [], findings: [], conversations: [], conversationsHealthy: 1 },
    ...over,
  }
}

export const diagnosis = (...profiles: readonly ProfileDiagnosis[]): Diagnosis => ({
  ...{ format: 'throughline-doctor-hermes', version: 1, path: '/home', profiles },
  examinedAt: '2026-11-16T00:00:00Z',
})

export const conversation: HermesConversation = {
  ...{ rootId: 's1', title: 'Pier', source: 'telegram' },
  sessions: [
    { id: 's1', startedAt: AT, endedAt: AT + 100, endReason: 'compression', rows: 1 },
    { id: 's2', startedAt: AT + 100, endedAt: null, endReason: null, rows: 2 },
  ],
  timeline: [
    { at: AT, sessionId: 's1', text: 'began', finding: null },
    { at: AT + 200, sessionId: 's2', text: 'forked', finding: 0 },
    { at: null, sessionId: 's2', text: 'lost', finding: 1 },
  ],
}

export const rows = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    ...{ id: at + 1, sessionId: 's1', role: 'user', at: AT, text: at === 0 ? '' : `word ${at}` },
  }))

export const told = profile({
  remarks: ['A remark.'],
  findings: [
    finding({
      ...{ rows: rows(2), rowCount: 3 },
      lines: [{ path: 'agent.log', line: 7, text: 'closed | `x`' }],
    }),
    finding({ kind: 'torn-summary', severity: 'risk', certainty: 'suspected', title: 'Torn' }),
    finding({ severity: 'note', sessionIds: [], title: 'A <note>', advice: 'Nothing.' }),
  ],
  conversations: [conversation],
  conversationsHealthy: 4,
})
