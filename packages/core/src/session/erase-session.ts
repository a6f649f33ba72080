import type { SessionId } from '../base/ids.ts'
import type { ErasedUpTo } from '../store/commits.ts'
import type { Commits } from '../store/contract.ts'

const PIECE = 500

/**
 * Erases a deleted session piece by piece, from where an earlier attempt stopped; several processes
 * may do so at once. If it was the last reader of a deleted session, that one is erased next.
 * Returns false if the signal aborted first.
 */
export async function eraseDeleted(
  store: Pick<Commits, 'eraseSome'>,
  sessionId: SessionId,
  signal?: AbortSignal,
): Promise<boolean> {
  let after: ErasedUpTo | undefined
  for (let id = sessionId; !signal?.aborted; ) {
    const erased = await store.eraseSome({ sessionId: id, limit: PIECE, ...(after && { after }) })
    if (erased.kind === 'not-deleted') return true
    after = erased.left ? erased.upTo : undefined
    if (erased.left) continue
    if (erased.next === undefined) return true
    id = erased.next
  }
  return false
}
