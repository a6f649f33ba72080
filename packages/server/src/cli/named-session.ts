import { isId, parseSnapshotName, type SessionId, sessionId } from '#core/base/ids'
import { UsageError } from '../host/errors.ts'

/** Sessions by their ids, in a store or at a server. */
export interface SessionIds {
  findSession(id: SessionId): Promise<{ readonly id: SessionId } | undefined>
  listSessions(query: {
    readonly after?: SessionId
    readonly limit: number
  }): Promise<readonly { readonly id: SessionId }[]>
}

const LISTED_MAX = 5

/**
 * The session with this id, or the only one whose id begins with it; for a session of the proxy also
 * the client's own id, which follows the client's name. Not for actions that cannot be undone.
 */
export async function requireNamed(
  store: SessionIds,
  text: string,
  advice?: string,
): Promise<SessionId> {
  const found = await findNamed(store, text)
  if (found === undefined) throw unknownSession(text, advice)
  return found
}

export async function findNamed(store: SessionIds, text: string): Promise<SessionId | undefined> {
  if (!isId(text)) {
    if (parseSnapshotName(text) !== undefined) sessionId(text)
    return undefined
  }
  const given = sessionId(text)
  if ((await store.findSession(given)) !== undefined) return given
  const starts = [text, ...CLIENTS.map((client) => `${client}-${text}`)].filter(isId)
  const found = await Promise.all(starts.map((start) => findBeginning(store, start)))
  const [only, ...others] = found.flat()
  if (only === undefined || others.length === 0) return only
  const listed = [only, ...others].slice(0, LISTED_MAX).join(', ')
  const more = others.length >= LISTED_MAX ? ', …' : ''
  throw new UsageError(
    `Several sessions begin with ${text}: ${listed}${more}. Give more of the id.`,
  )
}

/** The names of clients in the ids of their sessions. */
const CLIENTS = ['claude', 'codex', 'opencode', 'pi', 'aider', 'agent'] as const

/** Ids are sorted, so those that begin with a prefix follow it directly. */
async function findBeginning(store: SessionIds, start: string): Promise<readonly SessionId[]> {
  const exact = await store.findSession(sessionId(start))
  const page = await store.listSessions({ after: sessionId(start), limit: LISTED_MAX + 1 })
  const ids = page.map(({ id }) => id).filter((id) => id.startsWith(start))
  return exact === undefined ? ids : [exact.id, ...ids]
}

const SEE_LIST = 'See `throughline sessions`.'

export function unknownSession(id: string, advice = SEE_LIST): UsageError {
  return new UsageError(`There is no session ${id} in this store. ${advice}`)
}
