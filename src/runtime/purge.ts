import { randomUUID } from 'node:crypto'
import { operationId, type SessionId } from '../base/ids.ts'
import type { ErasedUpTo } from '../store/commits.ts'
import type { Store } from '../store/contract.ts'
import type { Purged } from './runtime.ts'

const PIECE = 500

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
    const key = randomUUID()
    const body = { entries: [...entries], reason }
    const to = { sessionId }
    await store.admit({
      ...{ to, source: 'purge', key, lane: 'control', control: 'erase', body, tokens: 0 },
    })
    return { kind: 'asked', entries: entries.length }
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
