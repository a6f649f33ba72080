import { randomUUID } from 'node:crypto'
import { systemClock } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import { type EntryNumber, type MailNumber, operationId, type SessionId } from '#core/base/ids'
import { eraseDeleted } from '#core/session/erase-session'
import { ERASE_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import type { SessionRow } from '#core/store/tables/rows'
import { ClientSessions, isClientSession } from '../client-sessions/client-sessions.ts'
import { NotRecordedError } from '../client-sessions/stored-session.ts'
import type { Purged, PurgeRequest } from '../runtime.ts'
import { ask } from '../sessions/control-requests.ts'
import { byKeeper } from './entry-keepers.ts'
import { type ErasureParts, forgetNotes } from './erasure-propagation.ts'

/**
 * Removes data for good. A whole session is removed in pieces and leaves a tombstone: its id is
 * never used again. Single entries are erased by the session's holder, its only writer; the request
 * waits in the mailbox until then. Either way, notes that repeat the text are erased too.
 */
export async function purge(
  parts: ErasureParts,
  sessionId: SessionId,
  { entries, reason, forks }: PurgeRequest,
): Promise<Purged> {
  const { store } = parts
  const session = await store.findSession(sessionId)
  if (session === undefined) return { kind: 'unknown' }
  if (entries !== 'all') {
    return await purgeEntries(store, session, entries, reason)
  }
  const operation = operationId(randomUUID())
  const deleted = await store.deleteSession({
    ...{ sessionId, operation, reason },
    ...(forks !== undefined && { forks }),
  })
  if (deleted.kind === 'forked') return deleted
  // `gone` if an earlier purge ended halfway; this one continues where it stopped.
  const sessions = deleted.kind === 'done' ? deleted.sessions : [sessionId]
  // Forks come before the sessions that they read.
  for (const id of sessions.toReversed()) await finishErasure(parts, id)
  const retained = (await store.findSession(sessionId))?.retained ?? 0
  return { kind: 'purged', entries: session.tail, sessions, retained }
}

/** Entries that a fork reads from another session are erased there, for all its readers. */
async function purgeEntries(
  store: Store,
  session: SessionRow,
  entries: readonly number[],
  reason: string,
): Promise<Purged> {
  const asked: { sessionId: SessionId; mail: MailNumber }[] = []
  for (const [keeper, kept] of await byKeeper(store, session, entries)) {
    const sessionId = keeper.id
    for (let from = 0; from < kept.length; from += ERASE_MAX) {
      const some = kept.slice(from, from + ERASE_MAX)
      if (keeper.state !== 'open') {
        const operation = operationId(randomUUID())
        await store.eraseRetained({ sessionId, entries: some, operation, reason })
        continue
      }
      if (await isClientSession(store, sessionId)) {
        await eraseFromClient(store, sessionId, some, reason)
        continue
      }
      const body = { entries: some, reason }
      const mail = await ask(store, sessionId, { control: 'erase', body, tokens: 0 })
      if (mail === null) return { kind: 'unknown' }
      asked.push({ sessionId, mail })
    }
  }
  return { kind: 'asked', entries: entries.length, asked }
}

/** No process runs a client's session, so the text is removed here, between two of its requests. */
async function eraseFromClient(
  store: Store,
  sessionId: SessionId,
  entries: readonly EntryNumber[],
  reason: string,
): Promise<void> {
  const sessions = new ClientSessions({ store, clock: systemClock })
  try {
    await sessions.erase(sessionId, entries, reason)
  } catch (error) {
    if (error instanceof NotRecordedError) throw new NotErasedError(sessionId)
    throw error
  } finally {
    await sessions.close()
  }
}

class NotErasedError extends KnownError {
  override readonly name = 'NotErasedError'
  readonly code = 'session-in-use'
  readonly retryable = true

  constructor(sessionId: SessionId) {
    super(`A proxy is writing to session ${sessionId}. Nothing was removed; ask again later.`)
  }
}

/**
 * Finishes a removal from `erasing` to `gone`, wherever an earlier one stopped; several processes
 * may do it at once. False: the signal aborted first. Throws ControlNotAdmittedError if a mailbox accepts
 * nothing now.
 */
export async function finishErasure(
  parts: ErasureParts,
  sessionId: SessionId,
  signal?: AbortSignal,
): Promise<boolean> {
  if (signal?.aborted) return false
  await forgetNotes(parts, { sessionId, entries: 'all' })
  return await eraseDeleted(parts.store, sessionId, signal)
}
