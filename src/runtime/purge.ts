import { randomUUID } from 'node:crypto'
import { KnownError } from '../base/errors.ts'
import { type MailNumber, operationId, type SessionId } from '../base/ids.ts'
import { ERASE_MAX } from '../store/bounds.ts'
import type { ErasedUpTo } from '../store/commits.ts'
import type { Store } from '../store/contract.ts'
import type { Purged } from './runtime.ts'

const PIECE = 500

/** Whoever wants something forgotten must know when it was not even asked for. */
export class NotAskedError extends KnownError {
  override readonly name = 'NotAskedError'
  readonly code = 'purge-not-asked'
  readonly retryable = true

  constructor(why: string) {
    super(`The mailbox of the session did not take the request (${why}); ask again later.`)
  }
}

/**
 * Removes for good. A whole session goes in pieces and leaves a tombstone: its id is never used
 * again. Single entries are erased by whoever holds the session, since it alone writes there; the
 * request waits in the mailbox until then.
 */
export async function purge(
  store: Store,
  sessionId: SessionId,
  { entries, reason }: { entries: readonly number[] | 'all'; reason: string },
): Promise<Purged> {
  const session = await store.findSession(sessionId)
  if (session === undefined) return { kind: 'unknown' }
  if (entries !== 'all') {
    const asked: MailNumber[] = []
    for (let from = 0; from < entries.length; from += ERASE_MAX) {
      const body = { entries: entries.slice(from, from + ERASE_MAX), reason }
      const request = { source: 'purge', key: randomUUID(), control: 'erase', body, tokens: 0 }
      const outcome = await store.admit({ to: { sessionId }, lane: 'control', ...request })
      if (outcome.kind === 'gone' || outcome.kind === 'unknown') return { kind: 'unknown' }
      if (outcome.kind !== 'admitted') throw new NotAskedError(outcome.kind)
      asked.push(outcome.mail)
    }
    return { kind: 'asked', entries: entries.length, mail: asked }
  }
  const operation = operationId(randomUUID())
  // `gone` when an earlier purge ended halfway: it goes on where that one stopped.
  await store.deleteSession({ sessionId, operation, reason })
  let after: ErasedUpTo | undefined
  for (;;) {
    const erased = await store.eraseSome({ sessionId, limit: PIECE, ...(after && { after }) })
    if (erased.kind === 'not-deleted' || !erased.left) break
    after = erased.upTo
  }
  return { kind: 'purged', entries: session.tail }
}
