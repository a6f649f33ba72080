import type { HermesSession } from '../read/rows.ts'
import type { HermesSchema } from '../read/schema.ts'

export interface FollowCandidate {
  readonly session: HermesSession
  readonly rows: number
}

/**
 * How each version of Hermes chooses the session that continues one closed by compaction. Up to
 * 0.17 (schema 16): of the children opened at or after the closing, the one opened last, however it
 * was created. Later: a child that is not a branch, delegate or tool session; first one that was
 * itself compacted, then an open one, then the one active last.
 */
export type FollowRule = 'newest' | 'ranked' | 'ranked-without-resets'

const NEWEST_UP_TO = 16
const RESETS_UP_TO = 26

export const CLOSED = 'compression'

export function followRule({
  version,
  columns,
}: Pick<HermesSchema, 'version' | 'columns'>): FollowRule {
  const isLater = columns.get('sessions')?.has('last_activity_at') === true
  if (version === null) return isLater || columns.has('gateway_routing') ? 'ranked' : 'newest'
  if (version <= NEWEST_UP_TO) return 'newest'
  return version <= RESETS_UP_TO ? 'ranked' : 'ranked-without-resets'
}

export function isFollowed(child: HermesSession, parent: HermesSession, rule: FollowRule): boolean {
  if (parent.endReason !== CLOSED || child.id === parent.id) return false
  if (rule === 'newest') {
    return parent.endedAt !== null && (child.startedAt ?? Number.NaN) >= parent.endedAt
  }
  const isOther =
    child.origin === 'branch' ||
    child.origin === 'delegate' ||
    (child.origin === 'reset' && rule === 'ranked-without-resets')
  return !isOther && child.source !== 'tool'
}

/** The id of the session that Hermes continues with; undefined: none. */
export function chosen<Member extends FollowCandidate>(
  children: readonly Member[],
  rule: FollowRule,
  lastRowAt: (child: Member) => number | null,
): string | undefined {
  if (children.length < 2) return children[0]?.session.id
  const started = ({ session }: FollowCandidate) => session.startedAt ?? Number.NEGATIVE_INFINITY
  if (rule === 'newest') return best(children, (one, other) => started(one) - started(other))
  const activity = new Map(children.map((child) => [child, lastActive(child, lastRowAt(child))]))
  const active = (child: Member) => activity.get(child) ?? Number.NEGATIVE_INFINITY
  return best(
    children,
    (one, other) =>
      rank(one) - rank(other) ||
      active(one) - active(other) ||
      started(one) - started(other) ||
      (one.session.id < other.session.id ? -1 : 1),
  )
}

function best<Member extends FollowCandidate>(
  children: readonly Member[],
  compare: (one: Member, other: Member) => number,
): string | undefined {
  return children.reduce((one, other) => (compare(other, one) > 0 ? other : one)).session.id
}

function rank({ session }: FollowCandidate): number {
  if (session.endReason === CLOSED) return 2
  return session.endedAt === null ? 1 : 0
}

function lastActive({ session }: FollowCandidate, rowAt: number | null): number | null {
  const times = [session.lastActivityAt, rowAt].filter((time) => time !== null)
  return times.length === 0 ? session.startedAt : Math.max(...times)
}
