import { randomUUID } from 'node:crypto'
import { type MailNumber, operationId, type SessionId } from '#core/base/ids'
import { eraseDeleted } from '#core/session/erase-session'
import { ERASE_MAX } from '#core/store/bounds'
import type { Purged } from '../runtime.ts'
import { ask } from '../sessions/control-requests.ts'
import { type ErasureParts, forgetNotes } from './erasure-propagation.ts'

/**
 * Removes for good. A whole session goes in pieces and leaves a tombstone: its id is never used
 * again. The holder of the session erases single entries, because only it writes there; the request
 * waits in the mailbox until then. Either way the notes that repeat them are erased too.
 */
export async function purge(
  parts: ErasureParts,
  sessionId: SessionId,
  { entries, reason }: { entries: readonly number[] | 'all'; reason: string },
): Promise<Purged> {
  const { store } = parts
  const session = await store.findSession(sessionId)
  if (session === undefined) return { kind: 'unknown' }
  if (entries !== 'all') {
    const asked: MailNumber[] = []
    for (let from = 0; from < entries.length; from += ERASE_MAX) {
      const body = { entries: entries.slice(from, from + ERASE_MAX), reason }
      const mail = await ask(store, sessionId, { control: 'erase', body, tokens: 0 })
      if (mail === null) return { kind: 'unknown' }
      asked.push(mail)
    }
    return { kind: 'asked', entries: entries.length, mail: asked }
  }
  const operation = operationId(randomUUID())
  // `gone` when an earlier purge ended halfway: it continues where that one stopped.
  await store.deleteSession({ sessionId, operation, reason })
  await finishErasure(parts, sessionId)
  return { kind: 'purged', entries: session.tail }
}

/**
 * The rest of the way from `erasing` to `gone`, wherever the one before stopped; several may do it at
 * once. False: the signal ended it first. Throws NotAskedError where a mailbox takes nothing now.
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
