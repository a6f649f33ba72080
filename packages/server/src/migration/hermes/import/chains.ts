import { hash } from 'node:crypto'
import { isId, type SessionId, sessionId } from '#core/base/ids'
import type { Kin } from '../findings/follow.ts'
import type { Lineage } from '../findings/lineage.ts'
import type { HermesSession } from '../read/rows.ts'

/** The sessions of one conversation, first one first; the one where it goes on today comes last. */
export interface Chain {
  readonly rootId: string
  readonly sessionId: SessionId
  readonly links: readonly Link[]
}

/** `session` null: rows name it, and the table of sessions does not have it. */
export interface Link {
  readonly id: string
  readonly session: HermesSession | null
  /** Of a fork, on the side that is not gone on with. */
  readonly isBranch: boolean
}

/**
 * Every session and every name that a row uses is in exactly one chain. They are made as they are
 * asked for: a home may have many.
 */
export function* gatherChains({
  sessions,
  homeless,
  lineage,
}: {
  readonly sessions: ReadonlyMap<string, Kin>
  /** Names of sessions that only rows know. */
  readonly homeless: Iterable<string>
  readonly lineage: Lineage<Kin>
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
  // Of a session that is gone the rows are left, and another one that goes on with them.
  for (const id of sessions.keys()) {
    const root = lineage.rootOf(id)
    if (!sessions.has(root) && !taken.has(root)) yield gather(root)
  }
  // Sessions that name each other as parents in a circle have no first one.
  for (const id of sessions.keys()) if (!taken.has(id)) yield gather(id)
  for (const id of homeless) yield gather(id)
}

/** A fork's branches one after the other, and the branch of the tip last: its context goes on. */
function order(rootId: string, lineage: Lineage<Kin>): readonly string[] {
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

/** Ids that we could not write are derived, the same ones every time. */
export function idFor(foreign: string): SessionId {
  return sessionId(isId(foreign) ? foreign : `hermes-${hash('sha256', foreign).slice(0, 24)}`)
}
