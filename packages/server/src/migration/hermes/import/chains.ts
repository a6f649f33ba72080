import { hash } from 'node:crypto'
import { isId, type SessionId, sessionId } from '#core/base/ids'
import type { FollowCandidate } from '../findings/follow.ts'
import type { Lineage } from '../findings/lineage.ts'
import type { HermesSession } from '../read/rows.ts'

/** The sessions of one conversation, oldest first; the last is the one that continues today. */
export interface Chain {
  readonly rootId: string
  readonly sessionId: SessionId
  readonly links: readonly Link[]
}

/** `session` null: rows name it, but the table of sessions does not have it. */
export interface Link {
  readonly id: string
  readonly session: HermesSession | null
  /** On a branch of a fork that is not continued. */
  readonly isBranch: boolean
}

/**
 * Puts every session, and every session id that a row names, into exactly one chain. Lazy, because
 * a home may have many.
 */
export function* gatherChains({
  sessions,
  homeless,
  lineage,
}: {
  readonly sessions: ReadonlyMap<string, FollowCandidate>
  /** Session ids that only rows name. */
  readonly homeless: Iterable<string>
  readonly lineage: Lineage<FollowCandidate>
}): Generator<Chain> {
  const taken = new Set<string>()
  const gather = (rootId: string): Chain => {
    const links = order(rootId, lineage).filter((id) => !taken.has(id))
    for (const id of links) taken.add(id)
    const tip = lineage.endOf(rootId)
    return {
      rootId,
      sessionId: idFor(rootId),
      links: links.map((id) => ({
        id,
        session: sessions.get(id)?.session ?? null,
        isBranch: lineage.endOf(id) !== tip,
      })),
    }
  }
  for (const id of sessions.keys()) if (lineage.rootOf(id) === id) yield gather(id)
  // A deleted session may have left rows, and another session that continues them.
  for (const id of sessions.keys()) {
    const root = lineage.rootOf(id)
    if (!sessions.has(root) && !taken.has(root)) yield gather(root)
  }
  // Sessions whose parents form a cycle have no first one.
  for (const id of sessions.keys()) if (!taken.has(id)) yield gather(id)
  for (const id of homeless) yield gather(id)
}

/** The branches of a fork one after another, last the one whose context continues. */
function order(rootId: string, lineage: Lineage<FollowCandidate>): readonly string[] {
  const tip = lineage.endOf(rootId)
  const leadsToTip = (id: string) => id === tip || lineage.endOf(id) === tip
  const ids: string[] = []
  const seen = new Set<string>()
  const stack = [rootId]
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    ids.push(id)
    const children = lineage.continuationsOf(id).map(({ session }) => session.id)
    const last = children.find(leadsToTip)
    if (last !== undefined) stack.push(last)
    for (const child of children.toReversed()) if (child !== last) stack.push(child)
  }
  return ids
}

/** Ids that are not valid here are replaced by derived ones, the same on every run. */
export function idFor(foreign: string): SessionId {
  return sessionId(isId(foreign) ? foreign : `hermes-${hash('sha256', foreign).slice(0, 24)}`)
}
