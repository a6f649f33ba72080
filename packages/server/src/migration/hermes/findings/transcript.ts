import type { Sample, SessionSurvey } from '../diagnose/survey.ts'
import type { ReadRow } from '../read/rows.ts'
import {
  counted,
  type Finding,
  finding,
  REPAIR,
  type RowEvidence,
  readEvidence,
} from './finding.ts'
import type { StoreView } from './identity.ts'

/** Faults within one session's rows: tool calls without results, duplicated rows. */
export function findTranscriptFaults({ survey, lineage, read }: StoreView): Finding[] {
  const sessions = [...survey.sessions.values()]
  return [
    ...sessions.flatMap((session) => brokenPairs(session, read)),
    ...sessions.flatMap((session) => doubledRows(session, read)),
    ...sessions.flatMap((session) =>
      lineage.rootOf(session.session.id) === session.session.id ? [] : carriedRows(session, read),
    ),
    ...[...survey.homeless].map(([id, rows]) => homelessRows(id, rows, read)),
  ]
}

function brokenPairs(survey: SessionSurvey, read: ReadRow): Finding[] {
  const { session, strayResults, openCalls, unreadableCalls, lastLiveId } = survey
  // A call with no row after it is still running, or was cut off when the session closed.
  const left = [...new Set(openCalls?.values())].filter(
    (id) => lastLiveId !== null && id < lastLiveId,
  )
  const abandoned = [...survey.abandoned.ids, ...left]
  const abandonedCount = survey.abandoned.count + left.length
  // An unreadable list of calls may contain the missing call.
  const strays = unreadableCalls.count > 0 ? [] : strayResults.ids
  if (strays.length === 0 && abandoned.length === 0) return []
  const rows = readEvidence([...strays, ...abandoned], read)
  const parts = [
    ...(strays.length > 0 ? [`${counted(strayResults.count, 'tool result')} without a call`] : []),
    ...(abandoned.length > 0 ? [`${counted(abandonedCount, 'tool call')} without a result`] : []),
  ]
  return [
    finding({
      kind: 'broken-tool-pair',
      severity: 'risk',
      certainty: 'certain',
      sessionIds: [session.id],
      title: `The live context holds ${parts.join(' and ')}`,
      explanation:
        `In the rows of ${session.id} that the model is shown, calls and results do not match. ` +
        'Providers refuse such a request, or the model runs the tool again.',
      advice:
        'Importing keeps the rows and marks the missing half; a repaired copy for Hermes leaves them as they are.',
      ...span(rows),
      facts: {
        strayResults: strays.length === 0 ? 0 : strayResults.count,
        openCalls: abandonedCount,
      },
      rows,
      rowCount: (strays.length === 0 ? 0 : strayResults.count) + abandonedCount,
    }),
  ]
}

function doubledRows({ session, doubled }: SessionSurvey, read: ReadRow): Finding[] {
  if (doubled.count === 0) return []
  const rows = readEvidence(doubled.ids, read)
  return [
    finding({
      kind: 'doubled-rows',
      severity: 'risk',
      certainty: 'certain',
      sessionIds: [session.id],
      title: `${counted(doubled.count, 'row stands', 'rows stand')} twice in one live context`,
      explanation:
        `These rows of ${session.id} say word for word and at the same instant what an earlier live row says: ` +
        'a copy was made and its original was left in the context. The model reads the same thing twice and pays for it twice.',
      advice: 'Importing takes each row once.',
      ...span(rows),
      facts: { rows: doubled.count },
      rows,
      rowCount: doubled.count,
    }),
  ]
}

function carriedRows({ session, carried }: SessionSurvey, read: ReadRow): Finding[] {
  if (carried.count === 0) return []
  const rows = readEvidence(carried.ids, read)
  return [
    finding({
      kind: 'carried-over-rows',
      severity: 'note',
      certainty: 'certain',
      sessionIds: [session.id, ...(session.parentId === null ? [] : [session.parentId])],
      title: `${counted(carried.count, 'row is a copy', 'rows are copies')} of the session before`,
      explanation:
        'Compaction by rotation copies the newest rows into the new session. That is how it works and no fault; ' +
        'whoever counts or exports messages counts them twice.',
      advice: 'Importing recognizes them and takes each once.',
      ...span(rows),
      facts: { rows: carried.count },
      rows,
      rowCount: carried.count,
    }),
  ]
}

function homelessRows(sessionId: string, { count, ids }: Sample, read: ReadRow): Finding {
  const rows = readEvidence(ids, read)
  return finding({
    kind: 'homeless-rows',
    severity: 'risk',
    certainty: 'certain',
    sessionIds: [sessionId],
    title: `${counted(count, 'row belongs', 'rows belong')} to a session that does not exist`,
    explanation:
      `No session is called ${sessionId}: it was deleted, or its rows were written by a connection that did not check foreign keys. ` +
      'No context shows them.',
    advice: `Give them an empty session of that name. ${REPAIR} Importing gives them a session of their own.`,
    ...span(rows),
    facts: { rows: count },
    rows,
    rowCount: count,
  })
}

function span(rows: readonly RowEvidence[]): { from: number | null; to: number | null } {
  const times = rows.flatMap(({ at }) => (at === null ? [] : [at]))
  return times.length === 0
    ? { from: null, to: null }
    : { from: Math.min(...times), to: Math.max(...times) }
}
