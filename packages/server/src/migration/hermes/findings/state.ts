import type { SessionSurvey } from '../diagnose/survey.ts'
import { counted, type Finding, finding, readEvidence } from './finding.ts'
import { CLOSED } from './follow.ts'
import type { StoreView } from './identity.ts'

/** Sessions whose own row or whose messages contradict each other. */
export function findStateFaults(view: StoreView): Finding[] {
  return [...view.survey.sessions.values()].flatMap((one) => [
    ...nothingLive(one),
    ...oddEnding(one),
    ...impossibleTimes(one, view),
  ])
}

function nothingLive({ session, rows, live, archived, rewound }: SessionSurvey): Finding[] {
  if (live > 0 || rewound > 0 || archived === 0 || session.endedAt !== null) return []
  return [
    finding({
      kind: 'nothing-live',
      severity: 'harm',
      certainty: 'certain',
      sessionIds: [session.id],
      title: 'Everything in an open session is archived, and nothing replaces it',
      explanation:
        `All ${counted(rows, 'row')} of ${session.id} are out of the context (${archived} archived), and no handoff is in it. ` +
        'A compaction in place archived them and wrote no replacement: the next turn starts without memory.',
      advice:
        'Importing brings the rows. In Hermes, set `active` to 1 and `compacted` to 0 for them in a copy.',
      facts: { sessionId: session.id, rows, archived },
    }),
  ]
}

const REASON = /^[a-z][\w .:-]{0,63}$/i

function oddEnding({ session, rows, isEndedEarly }: SessionSurvey): Finding[] {
  const { id, endReason, endedAt, startedAt } = session
  const problems = [
    ...(endReason !== null && !REASON.test(endReason) ? ['its `end_reason` is not a word'] : []),
    ...(endReason !== null && endReason !== '' && endedAt === null
      ? ['it has an `end_reason` and no `ended_at`']
      : []),
    ...(endReason === null && endedAt !== null ? ['it has an `ended_at` and no `end_reason`'] : []),
    ...(endedAt !== null && endedAt < 0 ? ['it ended before 1970'] : []),
    ...(isEndedEarly ? ['it ended before it began'] : []),
  ]
  if (problems.length === 0) return []
  return [
    finding({
      kind: 'odd-ending',
      severity: 'risk',
      certainty: 'certain',
      sessionIds: [id],
      title: 'The end of a session is contradictory',
      explanation:
        `Of ${id} ${problems.join(', and ')}. Hermes writes both together. ` +
        (endReason === CLOSED
          ? 'It is closed for messages, and no continuation of it is found.'
          : `Parts of Hermes disagree on whether to show its ${counted(rows, 'row')} again.`),
      advice:
        'Set both in a copy: to NULL where the conversation goes on in it, else to its end and the reason.',
      from: startedAt,
      to: endedAt,
      facts: { sessionId: id, endReason, endedAt },
    }),
  ]
}

const DAY_SECONDS = 86_400

function impossibleTimes(
  { session, oddTimes, lastAt }: SessionSurvey,
  { now, read }: StoreView,
): Finding[] {
  const { id, startedAt } = session
  const isAhead = (at: number | null) => at !== null && at > now + DAY_SECONDS
  const problems = [
    ...(oddTimes.count > 0
      ? [
          `${counted(oddTimes.count, 'row has', 'rows have')} no time, or one years away from its beginning`,
        ]
      : []),
    ...(isAhead(lastAt) ? ['its newest row lies in the future'] : []),
    ...(isAhead(startedAt) ? ['it begins in the future'] : []),
    ...(startedAt === null || startedAt < 0 ? ['its start time cannot be read'] : []),
  ]
  if (problems.length === 0) return []
  return [
    finding({
      kind: 'impossible-time',
      severity: 'risk',
      certainty: 'certain',
      sessionIds: [id],
      title: 'A session has impossible times',
      explanation:
        `Of ${id}: ${problems.join('; ')}. Hermes puts rows in order by their time, and finds the newest session by it: ` +
        'such a row is in the wrong place, and such a session hides others.',
      advice:
        'Correct the times in a copy. Importing keeps the order in which the rows were written.',
      facts: { sessionId: id, rows: oddTimes.count },
      rows: readEvidence(oddTimes.ids, read),
      rowCount: oddTimes.count,
    }),
  ]
}
