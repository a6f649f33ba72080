import type {
  Diagnosis,
  HermesConversation,
  ProfileDiagnosis,
  StoreFacts,
} from '../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import type { SessionSurvey } from '../../packages/server/src/migration/hermes/diagnose/survey.ts'
import type { Finding } from '../../packages/server/src/migration/hermes/findings/finding.ts'
import type { StoreView } from '../../packages/server/src/migration/hermes/findings/identity.ts'
import { traceLineage } from '../../packages/server/src/migration/hermes/findings/lineage.ts'
import type {
  HermesRow,
  HermesSession,
} from '../../packages/server/src/migration/hermes/read/rows.ts'

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

export const NOW = 1_000_000
const NONE = { count: 0, ids: [] as readonly number[] }

export type Given = Partial<Omit<SessionSurvey, 'session'>> & {
  readonly session?: Partial<HermesSession>
}

export function surveyed(id: string, { session = {}, ...over }: Given = {}): SessionSurvey {
  return {
    session: {
      ...{ id, parentId: null, source: 'telegram', startedAt: 100, endedAt: null, endReason: null },
      ...{ lastActivityAt: null, origin: null, model: null, title: null, sessionKey: null },
      ...{ toolCallCount: null, cooldownUntil: null, cooldownError: null },
      ...{ fallbackStreak: 0, ineffectiveCount: 0, ...session },
    },
    ...{ rows: 3, live: 3, archived: 0, rewound: 0, firstId: 1, lastAt: 200, bornAfterId: 0 },
    ...{ oddTimes: NONE, handoffs: NONE, torn: NONE, late: NONE, carried: NONE, doubled: NONE },
    ...{ strayResults: NONE, openCalls: null, otherNames: null, abandoned: NONE, answered: null },
    ...{ unreadableCalls: NONE, denials: [], burst: null, run: null, marks: new Set() },
    ...{ carriedMarks: null, lastLiveId: null, ...over },
  } as unknown as SessionSurvey
}

export const row = (id: number, over: Partial<HermesRow> = {}): HermesRow => ({
  ...{ id, sessionId: 'a', role: 'user', text: `row ${id}`, contentBytes: 5, at: id * 10 },
  ...{ state: 'live', isSummary: false, toolCallId: null, callIds: [], otherNames: null, ...over },
})

export function view(members: readonly SessionSurvey[], over: object = {}): StoreView {
  const sessions = new Map(members.map((member) => [member.session.id, member]))
  const { survey = {}, ...rest } = over as { survey?: object }
  return {
    survey: {
      sessions,
      homeless: new Map(),
      missingBetween: () => 0,
      clockAt: () => null,
      ...survey,
    },
    lineage: traceLineage({ sessions, rule: 'newest' }),
    ...{ routes: [], read: (id: number) => row(id), now: NOW, schema: { isExport: false } },
    ...rest,
  } as unknown as StoreView
}

/** Every field of a finding, one line each, for tests that look at all that people read. */
export function textOf(finding: Finding): string {
  const { kind, severity, certainty, sessionIds, title, explanation, advice, ...more } = finding
  const { from, to, clock, facts, rows, rowCount, lines } = more
  const evidence = [
    ...rows.map(({ id }) => `row ${id}`),
    ...lines.map(({ line }) => `line ${line}`),
  ]
  return [
    `${kind}: ${severity}, ${certainty}, of ${sessionIds.join(' and ') || 'no session'}`,
    `${from} to ${to} by the ${clock}; ${rowCount} rows; ${evidence.join(', ') || 'no evidence'}`,
    ...[title, explanation, advice, JSON.stringify(facts)],
  ].join('\n')
}
