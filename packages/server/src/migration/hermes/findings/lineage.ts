import type { SessionSurvey, Survey } from '../diagnose/survey.ts'
import type { HermesSession } from '../read/rows.ts'
import { CLOSED, chosen, type FollowCandidate, type FollowRule, isFollowed } from './follow.ts'

/**
 * Which session continues which. A conversation is a chain of sessions: a compaction closed each
 * one but the last, and the next one names it as its parent. Branches, delegates, resets and tool
 * sessions also have parents, but continue none.
 */
export interface Lineage<Member extends FollowCandidate = SessionSurvey> {
  continuationsOf(sessionId: string): readonly Member[]
  /** The first session of the conversation. */
  rootOf(sessionId: string): string
  /** The session with which the conversation continues today. */
  endOf(sessionId: string): string
  /** The session with which Hermes continues, by the rule of the version that wrote the store. */
  tipOf(sessionId: string): string
  /** Every later session of the conversation. */
  descendantsOf(sessionId: string): readonly Member[]
}

/** A child that began this long before the closing started while its parent ran: a subagent. */
const EARLY_CHILD_SECONDS = 5
/** Sources of sessions that another one called and that continue none. */
const ASKED = new Set(['tool', 'subagent'])

export function traceLineage({
  sessions,
  rule,
  anyEnd = false,
}: Pick<Survey, 'sessions'> & {
  readonly rule: FollowRule
  readonly anyEnd?: boolean
}): Lineage {
  return linkUp(sessions, {
    ...{ rule, anyEnd },
    isContinuation: ({ handoffs, firstId, carried }) =>
      handoffs.ids[0] === firstId || carried.count > 0,
    lastRowAt: ({ lastAt }) => lastAt,
  })
}

export interface LineageRules<Member> {
  readonly rule: FollowRule
  /** Also include parents that ended without compaction, if their rows continue. */
  readonly anyEnd: boolean
  /** Whether a session begins with a handoff or repeats rows of the parent. */
  readonly isContinuation: (child: Member) => boolean
  /** The latest time among its rows; read only if there are several children. */
  readonly lastRowAt: (child: Member) => number | null
}

export function linkUp<Member extends FollowCandidate>(
  sessions: ReadonlyMap<string, Member>,
  { rule, anyEnd, isContinuation, lastRowAt }: LineageRules<Member>,
): Lineage<Member> {
  const children = new Map<string, Member[]>()
  const followed = new Map<string, Member[]>()
  const parents = new Map<string, string>()
  for (const child of sessions.values()) {
    const parent = sessions.get(child.session.parentId ?? '')
    if (parent === undefined) continue
    if (isFollowed(child.session, parent.session, rule)) add(followed, parent.session.id, child)
    const relation = relationOf(child.session, parent.session, { rule, anyEnd })
    // In a version that marks called sessions, an empty session is a shell.
    const isShell = child.rows === 0 && rule !== 'newest' && parent.session.endReason === CLOSED
    if (relation === 'none' || (relation === 'open' && !isShell && !isContinuation(child))) continue
    parents.set(child.session.id, parent.session.id)
    add(children, parent.session.id, child)
  }
  const continuationsOf = (id: string) => children.get(id) ?? []
  const [roots, tips, ends] = [new Map(), new Map(), new Map()] as Map<string, string>[]
  const choose = (list: readonly Member[]) => chosen(list, rule, lastRowAt)
  const isOwn = (parentId: string) => (child: Member) => parents.get(child.session.id) === parentId
  const next = (id: string) => {
    const own = continuationsOf(id)
    return choose((followed.get(id) ?? []).filter(isOwn(id))) ?? choose(own)
  }
  return {
    continuationsOf,
    rootOf: (id) => follow(id, roots ?? new Map(), (at) => parents.get(at)),
    endOf: (id) => follow(id, ends ?? new Map(), next),
    tipOf: (id) => follow(id, tips ?? new Map(), (at) => choose(followed.get(at) ?? [])),
    descendantsOf: (id) => collect(id, continuationsOf),
  }
}

function add<Member>(lists: Map<string, Member[]>, id: string, member: Member): void {
  const list = lists.get(id)
  if (list === undefined) lists.set(id, [member])
  else list.push(member)
}

/** `open`: it began while its parent ran, or the parent's end is unknown; its rows decide. */
export function relationOf(
  session: HermesSession,
  parent: HermesSession,
  { rule, anyEnd }: Pick<LineageRules<FollowCandidate>, 'rule' | 'anyEnd'>,
): 'continues' | 'open' | 'none' {
  if (session.id === parent.id || parent.endReason === 'branched') return 'none'
  if (session.origin !== null || ASKED.has(session.source)) return 'none'
  if (parent.endReason !== CLOSED) return anyEnd ? 'open' : 'none'
  // Older versions open the next session when they close the last, and do not mark subagents.
  const before = rule === 'newest' ? 0 : EARLY_CHILD_SECONDS
  const isEarly =
    session.startedAt !== null &&
    parent.endedAt !== null &&
    session.startedAt < parent.endedAt - before
  return isEarly ? 'open' : 'continues'
}

/**
 * Parents can form a cycle; then the end depends on the session where it was entered. Any other end
 * is cached for all sessions on the way, since a conversation may have thousands.
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

function collect<Member extends FollowCandidate>(
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
