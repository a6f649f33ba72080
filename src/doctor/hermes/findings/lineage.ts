import type { HermesSession } from '../rows.ts'
import type { SessionSurvey, Survey } from '../survey.ts'

/**
 * Who continues whom. A conversation is a chain of sessions: each but the last was closed by a
 * compaction, and the next one names it as its parent. Branches, delegates, resets and tool sessions
 * have parents too and continue nobody.
 */
export interface Lineage<Member extends Kin = SessionSurvey> {
  continuationsOf(sessionId: string): readonly Member[]
  /** The first session of the conversation. */
  rootOf(sessionId: string): string
  /** Where the conversation goes on today. */
  tipOf(sessionId: string): string
  /** Every session behind this one in its conversation. */
  descendantsOf(sessionId: string): readonly Member[]
}

export interface Kin {
  readonly session: HermesSession
  readonly rows: number
}

/** A child that began this long before the closing was made while its parent lived: a subagent. */
const EARLY_CHILD_SECONDS = 60

export function traceLineage({ sessions }: Pick<Survey, 'sessions'>): Lineage {
  return linkUp(
    sessions,
    ({ handoffs, firstId, carried }) => handoffs.rows[0]?.id === firstId || carried.count > 0,
  )
}

/** `isHeir`: whether a session's rows begin with a handoff or say again what the parent said. */
export function linkUp<Member extends Kin>(
  sessions: ReadonlyMap<string, Member>,
  isHeir: (child: Member) => boolean,
): Lineage<Member> {
  const children = new Map<string, Member[]>()
  const parents = new Map<string, string>()
  for (const child of sessions.values()) {
    const parent = sessions.get(child.session.parentId ?? '')
    if (parent === undefined) continue
    const relation = kinship(child.session, parent.session)
    const isOpen = relation === 'open' && child.rows > 0
    if (relation === 'none' || (isOpen && !isHeir(child))) continue
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

/** `open`: it began while its parent lived, so that its rows decide. */
export function kinship(
  session: HermesSession,
  parent: HermesSession,
): 'continues' | 'open' | 'none' {
  if (parent.endReason !== 'compression' || session.id === parent.id) return 'none'
  if (session.origin !== null || session.source === 'tool') return 'none'
  const isEarly =
    session.startedAt !== null &&
    parent.endedAt !== null &&
    session.startedAt < parent.endedAt - EARLY_CHILD_SECONDS
  return isEarly ? 'open' : 'continues'
}

/** A child that itself goes on, then one that is open, then one that holds most. */
function likeliest(
  children: readonly Kin[],
  continuationsOf: (id: string) => readonly Kin[],
): string | undefined {
  const rank = ({ session, rows }: Kin) =>
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

function collect<Member extends Kin>(
  start: string,
  continuationsOf: (id: string) => readonly Member[],
): readonly Member[] {
  const seen = new Set([start])
  const found: Member[] = []
  const queue = [...continuationsOf(start)]
  for (let child = queue.shift(); child !== undefined; child = queue.shift()) {
    if (seen.has(child.session.id)) continue
    seen.add(child.session.id)
    found.push(child)
    for (const next of continuationsOf(child.session.id)) queue.push(next)
  }
  return found
}
