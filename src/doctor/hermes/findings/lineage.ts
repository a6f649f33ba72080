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
const EARLY_CHILD_SECONDS = 5
/** Of those whom somebody asked, and who continue nobody. */
const ASKED = new Set(['tool', 'subagent'])

export function traceLineage({ sessions }: Pick<Survey, 'sessions'>): Lineage {
  return linkUp(
    sessions,
    ({ handoffs, firstId, carried }) => handoffs.ids[0] === firstId || carried.count > 0,
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
  const [roots, tips] = [new Map<string, string>(), new Map<string, string>()]
  return {
    continuationsOf,
    rootOf: (id) => follow(id, roots, (at) => parents.get(at)),
    tipOf: (id) => follow(id, tips, (at) => likeliest(continuationsOf(at), continuationsOf)),
    descendantsOf: (id) => collect(id, continuationsOf),
  }
}

/** `open`: it began while its parent lived, so that its rows decide. */
export function kinship(
  session: HermesSession,
  parent: HermesSession,
): 'continues' | 'open' | 'none' {
  if (parent.endReason !== 'compression' || session.id === parent.id) return 'none'
  if (session.origin !== null || ASKED.has(session.source)) return 'none'
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

/**
 * Rows can name each other as parents in a circle; the end of one depends on where it is entered.
 * Every other end is remembered for all on the way, since a conversation may be thousands long.
 */
function follow(
  start: string,
  ends: Map<string, string>,
  next: (id: string) => string | undefined,
): string {
  const way = new Set<string>()
  for (let id = start; ; ) {
    const following = ends.get(id) ?? next(id)
    if (following !== undefined && (way.has(following) || following === id)) return id
    if (following === undefined) {
      for (const one of way) ends.set(one, id)
      return id
    }
    way.add(id)
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
