import type { SessionRow } from '#core/store/tables/rows'

/**
 * Where a session may write. A tool acts with the rights of its session: its effects reach only the
 * people that the session talks with, unless the operator allows more.
 */
export interface Destinations {
  /** Any session, as for a single user. */
  readonly isOpen: boolean
  /** Agents that it may message; each answers in a session of the same scope. */
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

/** Gives the same answer for a session that does not exist and for one out of reach. */
export function unreachableText(to: Destinations): string {
  return `Not sent: there is no such destination, or this session may not write to it. ${reachOf(to)}`
}
