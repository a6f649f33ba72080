import type { SessionSurvey, Survey } from '../diagnose/survey.ts'
import type { HermesSession } from '../read/rows.ts'
import { CLOSED, chosen, type FollowRule, isFollowed, type Kin } from './follow.ts'

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
  endOf(sessionId: string): string
  /** Where Hermes itself goes on, by the rule of the version that wrote the store. */
  tipOf(sessionId: string): string
  /** Every session behind this one in its conversation. */
  descendantsOf(sessionId: string): readonly Member[]
}

/** A child that began this long before the closing was made while its parent lived: a subagent. */
const EARLY_CHILD_SECONDS = 5
/** Of those whom somebody asked, and who continue nobody. */
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
    isHeir: ({ handoffs, firstId, carried }) => handoffs.ids[0] === firstId || carried.count > 0,
    lastRowAt: ({ lastAt }) => lastAt,
  })
}

export interface Kinship<Member> {
  readonly rule: FollowRule
  /** Also of parents that something else than compaction ended, where their rows go on. */
  readonly anyEnd: boolean
  /** Whether a session's rows begin with a handoff or say again what the parent said. */
  readonly isHeir: (child: Member) => boolean
  /** The latest time of its rows; only asked where there are several children. */
  readonly lastRowAt: (child: Member) => number | null
}

export function linkUp<Member extends Kin>(
  sessions: ReadonlyMap<string, Member>,
  { rule, anyEnd, isHeir, lastRowAt }: Kinship<Member>,
): Lineage<Member> {
  const children = new Map<string, Member[]>()
  const followed = new Map<string, Member[]>()
  const parents = new Map<string, string>()
  for (const child of sessions.values()) {
    const parent = sessions.get(child.session.parentId ?? '')
    if (parent === undefined) continue
    if (isFollowed(child.session, parent.session, rule)) add(followed, parent.session.id, child)
    const relation = kinship(child.session, parent.session, { rule, anyEnd })
    // Of a version that marks whom somebody asked, an empty one is a shell.
    const isShell = child.rows === 0 && rule !== 'newest' && parent.session.endReason === CLOSED
    if (relation === 'none' || (relation === 'open' && !isShell && !isHeir(child))) continue
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

/** `open`: it began while its parent lived, or nothing says how that one ended: its rows decide. */
export function kinship(
  session: HermesSession,
  parent: HermesSession,
  { rule, anyEnd }: Pick<Kinship<Kin>, 'rule' | 'anyEnd'>,
): 'continues' | 'open' | 'none' {
  if (session.id === parent.id || parent.endReason === 'branched') return 'none'
  if (session.origin !== null || ASKED.has(session.source)) return 'none'
  if (parent.endReason !== CLOSED) return anyEnd ? 'open' : 'none'
  // The older ones open the next session when the last one is closed, and mark no subagent.
  const before = rule === 'newest' ? 0 : EARLY_CHILD_SECONDS
  const isEarly =
    session.startedAt !== null &&
    parent.endedAt !== null &&
    session.startedAt < parent.endedAt - before
  return isEarly ? 'open' : 'continues'
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
