import type { HermesSession } from '../rows.ts'
import type { SessionSurvey, Survey } from '../survey.ts'

/**
 * Who continues whom. A conversation is a chain of sessions: each but the last was closed by a
 * compaction, and the next one names it as its parent. Branches, delegates, resets and tool sessions
 * have parents too and continue nobody.
 */
export interface Lineage {
  continuationsOf(sessionId: string): readonly SessionSurvey[]
  /** The first session of the conversation. */
  rootOf(sessionId: string): string
  /** Where the conversation goes on today. */
  tipOf(sessionId: string): string
  /** Every session behind this one in its conversation. */
  descendantsOf(sessionId: string): readonly SessionSurvey[]
}

/** A child that began this long before the closing was made while its parent lived: a subagent. */
const EARLY_CHILD_SECONDS = 60

export function traceLineage(survey: Survey): Lineage {
  const children = new Map<string, SessionSurvey[]>()
  const parents = new Map<string, string>()
  for (const child of survey.sessions.values()) {
    const parent = survey.sessions.get(child.session.parentId ?? '')
    if (parent === undefined || !continues(child, parent.session)) continue
    parents.set(child.session.id, parent.session.id)
    const siblings = children.get(parent.session.id)
    if (siblings === undefined) children.set(parent.session.id, [child])
    else siblings.push(child)
  }
  const continuationsOf = (id: string) => children.get(id) ?? []
  return {
    continuationsOf,
    rootOf: (id) => follow(id, (at) => parents.get(at)),
    tipOf: (id) => follow(id, (at) => likeliest(continuationsOf(at), continuationsOf)),
    descendantsOf: (id) => collect(id, continuationsOf),
  }
}

function continues(child: SessionSurvey, parent: HermesSession): boolean {
  const { session } = child
  if (parent.endReason !== 'compression' || session.id === parent.id) return false
  if (session.origin !== null || session.source === 'tool') return false
  const isEarly =
    session.startedAt !== null &&
    parent.endedAt !== null &&
    session.startedAt < parent.endedAt - EARLY_CHILD_SECONDS
  const beginsWithHandoff = child.handoffs.rows[0]?.id === child.firstId
  return !isEarly || child.rows === 0 || beginsWithHandoff || child.carried.count > 0
}

/** A child that itself goes on, then one that is open, then one that holds most. */
function likeliest(
  children: readonly SessionSurvey[],
  continuationsOf: (id: string) => readonly SessionSurvey[],
): string | undefined {
  const rank = ({ session, rows }: SessionSurvey) =>
    (continuationsOf(session.id).length > 0 ? 4 : 0) +
    (session.endedAt === null ? 2 : 0) +
    (rows > 0 ? 1 : 0)
  return children.toSorted((one, other) => rank(other) - rank(one) || other.rows - one.rows)[0]
    ?.session.id
}

/** Rows can name each other as parents in a circle. */
function follow(start: string, next: (id: string) => string | undefined): string {
  const seen = new Set([start])
  for (let id = start; ; ) {
    const following = next(id)
    if (following === undefined || seen.has(following)) return id
    seen.add(following)
    id = following
  }
}

function collect(
  start: string,
  continuationsOf: (id: string) => readonly SessionSurvey[],
): readonly SessionSurvey[] {
  const seen = new Set([start])
  const found: SessionSurvey[] = []
  const queue = [...continuationsOf(start)]
  for (let child = queue.shift(); child !== undefined; child = queue.shift()) {
    if (seen.has(child.session.id)) continue
    seen.add(child.session.id)
    found.push(child)
    for (const next of continuationsOf(child.session.id)) queue.push(next)
  }
  return found
}
