import type { SessionSurvey } from '../diagnose/survey.ts'
import { findCircles } from './circles.ts'
import { type Finding, finding, REPAIR } from './finding.ts'
import { CLOSED, followRule, isFollowed } from './follow.ts'
import type { StoreView } from './identity.ts'

type Parents = Pick<StoreView, 'survey' | 'lineage' | 'schema'>

/** Sessions with an impossible parent: a descendant, a missing session, or one that Hermes does not follow to them. */
export function findParentFaults(view: Parents): Finding[] {
  const sessions = [...view.survey.sessions.values()]
  return [
    ...circles(view),
    ...sessions.flatMap((one) => missing(one, view)),
    ...sessions.flatMap((one) => hidden(one, view)),
  ]
}

function circles({ survey }: Parents): Finding[] {
  return findCircles(survey.sessions).map(({ sessionId, parentId }) =>
    finding({
      kind: 'parent-circle',
      severity: 'risk',
      certainty: 'certain',
      sessionIds: sessionId === parentId ? [sessionId] : [sessionId, parentId],
      title:
        sessionId === parentId
          ? 'A session names itself as its parent'
          : 'Sessions name each other as parents, in a circle',
      explanation:
        `${sessionId} names ${parentId} as its parent, which comes from ${sessionId} itself. No session of the circle is the last one: ` +
        'where all of them are closed, Hermes refuses every message (CompressionSessionClosedError).',
      advice: `Have ${sessionId} name no parent, since it began first. ${REPAIR}`,
      facts: { sessionId, parentId },
    }),
  )
}

function missing({ session }: SessionSurvey, { survey }: Parents): Finding[] {
  const { id, parentId } = session
  if (parentId === null || survey.sessions.has(parentId)) return []
  return [
    finding({
      kind: 'parent-missing',
      severity: 'risk',
      certainty: 'certain',
      sessionIds: [id, parentId],
      title: 'A session names a parent that does not exist',
      explanation:
        `${id} came from ${parentId}, and no session has that id: it was deleted while foreign keys were not checked. ` +
        'Earlier messages are in no context, and Hermes may refuse to write to the session.',
      advice: `Look for a backup that has ${parentId}. ${REPAIR} It adds an empty session of that name.`,
      from: session.startedAt,
      facts: { sessionId: id, parentId },
    }),
  ]
}

/** Older versions look for the next session only among those opened after the closing. */
function hidden({ session }: SessionSurvey, { survey, lineage, schema }: Parents): Finding[] {
  const parent = survey.sessions.get(session.parentId ?? '')?.session
  if (parent?.endReason !== CLOSED || parent.endedAt === null) return []
  const rule = followRule(schema)
  const isContinuation = lineage
    .continuationsOf(parent.id)
    .some((one) => one.session.id === session.id)
  if (rule !== 'newest' || !isContinuation || isFollowed(session, parent, rule)) return []
  if (lineage.tipOf(parent.id) !== parent.id) return []
  return [
    finding({
      kind: 'hidden-continuation',
      severity: 'risk',
      certainty: 'certain',
      sessionIds: [parent.id, session.id],
      title: 'Hermes does not find the session that goes on',
      explanation:
        `${session.id} goes on with ${parent.id} and began before that one was closed. This version looks only for sessions that began later, ` +
        `so opening ${parent.id} ends in a closed session.`,
      advice: `Set the closing of ${parent.id} to the beginning of ${session.id}. ${REPAIR}`,
      from: session.startedAt,
      to: parent.endedAt,
      facts: { parent: parent.id, next: session.id },
    }),
  ]
}
