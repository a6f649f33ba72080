import type { HermesRoute } from '../diagnose/routes.ts'
import type { Condition } from '../diagnose/store-condition.ts'
import type { SessionSurvey, Survey } from '../diagnose/survey.ts'
import { markOf } from '../read/marks.ts'
import type { ReadRow } from '../read/rows.ts'
import type { HermesSchema } from '../read/schema.ts'
import { counted, type Finding, finding, REPAIR, rowEvidence } from './finding.ts'
import type { Lineage } from './lineage.ts'

/**
 * Anomaly A in the store: compaction closed a session and opened another, and some writers did not
 * follow. Messages kept arriving in the closed one, or no session continues it, or several do.
 */
export interface StoreView {
  readonly survey: Survey
  readonly lineage: Lineage
  readonly routes: readonly HermesRoute[]
  readonly read: ReadRow
  readonly now: number
  readonly schema: HermesSchema
  readonly condition: Condition
}

export function findIdentityFaults(view: StoreView): Finding[] {
  const closed = [...view.survey.sessions.values()].filter(
    ({ session }) => session.endReason === 'compression',
  )
  return [
    ...closed.flatMap((survey) => [
      ...lateRows(survey, view),
      ...continuity(survey, view.lineage),
      ...shells(survey, view.lineage),
    ]),
    ...view.routes.flatMap((route) => misrouted(route, view)),
  ]
}

function lateRows({ session, late }: SessionSurvey, { lineage, read }: StoreView): Finding[] {
  if (late.count === 0) return []
  const descendants = lineage.descendantsOf(session.id)
  const unseen = late.ids.flatMap((id) => {
    const row = read(id)
    const mark = row === null ? null : markOf(row)
    const isSeen =
      mark !== null &&
      descendants.some((one) => one.marks.has(mark) || one.carriedMarks?.has(mark) === true)
    return row === null || isSeen ? [] : [rowEvidence(row)]
  })
  if (unseen.length === 0) return []
  // Copies can be recognized only within the sample; its share is applied to the rest.
  const count = late.count > late.ids.length ? late.count : unseen.length
  const tip = lineage.endOf(session.id)
  // An empty session continues nothing.
  const isFollowed = descendants.some((one) => one.session.id === tip && one.rows > 0)
  const said = counted(unseen.filter((row) => row.role === 'user').length, 'message')
  return [
    finding({
      kind: 'rows-after-closing',
      severity: 'harm',
      certainty: 'certain',
      sessionIds: isFollowed ? [session.id, tip] : [session.id],
      title: `${counted(count, 'row was', 'rows were')} written to a session that compaction had already closed`,
      explanation:
        `Compaction closed ${session.id} and its context went elsewhere, but deliveries kept going to the old id. ` +
        (isFollowed
          ? `The conversation continues as ${tip}, whose context holds none of these rows: ${said} of people and programs never reached the agent there.`
          : `Nothing continues it, so no later context holds these rows: ${said} of people and programs that nobody ever sees.`),
      advice: isFollowed
        ? `Nothing is lost from disk: append the rows to ${tip} in order of time. ${REPAIR} Importing does so too.`
        : 'Nothing is lost from disk: importing puts the rows back in their place by time.',
      from: unseen[0]?.at ?? null,
      to: unseen.at(-1)?.at ?? null,
      facts: { parent: session.id, tip, closedAt: session.endedAt, rows: count },
      rows: unseen,
      rowCount: count,
    }),
  ]
}

function continuity({ session, rows }: SessionSurvey, lineage: Lineage): Finding[] {
  const children = lineage.continuationsOf(session.id)
  if (children.length === 1) return []
  const ids = children.map((child) => child.session.id)
  if (children.length === 0) {
    return [
      finding({
        kind: 'orphaned-parent',
        severity: 'harm',
        certainty: 'certain',
        sessionIds: [session.id],
        title: 'A session was closed by compaction and nothing continues it',
        explanation:
          `The row of ${session.id} says that compaction closed it, yet no session names it as parent. ` +
          'The process ended between closing the old session and writing the new one, or the new one was deleted. ' +
          `Whoever writes next starts without its ${counted(rows, 'row')}.`,
        advice: `Reopen it (end_reason and ended_at to NULL). ${REPAIR} Or import it: its rows are whole.`,
        from: session.endedAt,
        to: session.endedAt,
        facts: { parent: session.id, rows },
      }),
    ]
  }
  return [
    finding({
      kind: 'fork',
      severity: 'harm',
      certainty: 'certain',
      sessionIds: [session.id, ...ids],
      title: `Compaction continued one session as ${children.length}`,
      explanation:
        `${ids.join(' and ')} each continue ${session.id}. Two paths compacted it without knowing of each other; ` +
        'what was said in one is unknown in the other, and which one is answered depends on who asks.',
      advice: `Hermes follows ${lineage.tipOf(session.id)}. Make the others branches of it, with what was said there appended. ${REPAIR} Importing folds all of them into one conversation by time.`,
      from: session.endedAt,
      to: session.endedAt,
      facts: {
        parent: session.id,
        children: children.map((child) => ({ id: child.session.id, rows: child.rows })),
        tip: lineage.tipOf(session.id),
      },
    }),
  ]
}

function shells({ session }: SessionSurvey, lineage: Lineage): Finding[] {
  const empty = lineage.continuationsOf(session.id).filter((child) => child.rows === 0)
  return empty.map(({ session: shell }) =>
    finding({
      kind: 'empty-shell',
      severity: 'harm',
      certainty: 'certain',
      sessionIds: [session.id, shell.id],
      title: 'The session that compaction opened has not one message',
      explanation:
        `${shell.id} was created to continue ${session.id} and nothing was ever written to it, not even the summary. ` +
        'Whoever follows the compaction arrives in an empty room.',
      advice: `Close the shell and reopen ${session.id}. ${REPAIR} Importing ignores shells and says so.`,
      from: shell.startedAt,
      to: shell.startedAt,
      facts: { parent: session.id, shell: shell.id },
    }),
  )
}

/** Ends after which the gateway starts another session for a route. */
const RESETS = new Set([
  ...['session_reset', 'session_switch', 'idle', 'daily', 'suspended', 'resume_pending_expired'],
])

function onEnded({ key, from, sessionId }: HermesRoute, { session }: SessionSurvey): Finding {
  return finding({
    kind: 'route-on-ended-session',
    severity: 'risk',
    certainty: 'certain',
    sessionIds: [sessionId],
    title: 'A route points to a session that was ended by a reset',
    explanation:
      `${from} sends ${key} to ${sessionId}, which ended (${session.endReason}). The gateway gives the route another session when it ends one, ` +
      'but that did not happen: new messages are written after the end, or start without memory.',
    advice: `Point ${key} to the session that continues, or remove the route so that a new session starts.`,
    from: session.endedAt,
    facts: { key, sessionId, from, endReason: session.endReason },
  })
}

function misrouted(route: HermesRoute, { survey, lineage }: StoreView): Finding[] {
  const target = survey.sessions.get(route.sessionId)
  const facts = { key: route.key, sessionId: route.sessionId, from: route.from }
  if (target === undefined) {
    return [
      finding({
        kind: 'route-nowhere',
        severity: 'risk',
        certainty: 'certain',
        sessionIds: [route.sessionId],
        title: 'A route points to a session that does not exist',
        explanation: `${route.from} sends ${route.key} to ${route.sessionId}, which this store does not hold.`,
        advice:
          'The next message there starts a conversation without memory; point the route elsewhere.',
        facts,
      }),
    ]
  }
  if (RESETS.has(target.session.endReason ?? '') && target.session.endedAt !== null) {
    return [onEnded(route, target)]
  }
  if (target.session.endReason !== 'compression') return []
  const tip = lineage.endOf(route.sessionId)
  return [
    finding({
      kind: 'route-on-closed-parent',
      severity: 'harm',
      certainty: 'certain',
      sessionIds: tip === route.sessionId ? [tip] : [route.sessionId, tip],
      title: 'A route still points to a session that compaction closed',
      explanation:
        `${route.from} sends ${route.key} to ${route.sessionId}. Compaction closed that session` +
        (tip === route.sessionId ? '' : ` and continued it as ${tip}`) +
        '; what arrives there is written where the agent no longer reads.',
      advice:
        tip === route.sessionId
          ? `Reopen the session, or start a new one for this route. ${REPAIR}`
          : `Move the route to ${tip}. ${REPAIR}`,
      from: target.session.endedAt,
      facts: { ...facts, tip },
    }),
  ]
}
