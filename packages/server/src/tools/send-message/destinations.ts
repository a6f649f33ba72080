import type { SessionRow } from '#core/store/rows'

/**
 * Where a session may write. A tool acts with the rights of the session it runs in: what it can cause
 * elsewhere reaches no further than the people it talks with, except where the operator says so.
 */
export interface Destinations {
  /** Any session, as if there were one person only. */
  readonly isOpen: boolean
  /** Agents that it may ask; each answers in a session of the same scope. */
  readonly agents: ReadonlySet<string>
  /** Sessions that every session of the agent may write to. */
  readonly sessions: ReadonlySet<string>
}

export const DESTINATION =
  /^(?:\*|agent:[A-Za-z0-9][A-Za-z0-9_-]{0,63}|session:[A-Za-z0-9_-]{1,64})$/

/** As the operator lists them: `*`, `agent:NAME`, `session:ID`. */
export function readDestinations(listed: readonly string[]): Destinations {
  const named = (prefix: string) =>
    listed.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length))
  return {
    isOpen: listed.includes('*'),
    agents: new Set(named('agent:')),
    sessions: new Set(named('session:')),
  }
}

/** `isAnswer`: the other session has written to this one. */
export function mayWrite(
  sender: Pick<SessionRow, 'scope'>,
  receiver: Pick<SessionRow, 'id' | 'scope'>,
  { to, isAnswer }: { readonly to: Destinations; readonly isAnswer: boolean },
): boolean {
  const isOwn = receiver.scope === sender.scope
  return isOwn || isAnswer || to.isOpen || to.sessions.has(receiver.id)
}

/** Where it may write, for the model. */
export function reachOf({ isOpen, agents, sessions }: Destinations): string {
  if (isOpen) return 'You may write to any session.'
  const listed = [
    ...[...agents].map((name) => `the agent ${name}`),
    ...[...sessions].map((id) => `the session ${id}`),
  ]
  const own = 'You may write to sessions of the same people and to sessions that wrote to this one'
  return listed.length === 0 ? `${own}.` : `${own}; also to ${listed.join(', ')}.`
}

/** Says the same of a session that does not exist and of one that is out of reach. */
export function outOfReach(to: Destinations): string {
  return `Not sent: there is no such destination, or this session may not write to it. ${reachOf(to)}`
}
