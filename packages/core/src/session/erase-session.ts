import type { SessionId } from '../base/ids.ts'
import type { ErasedUpTo } from '../store/commits.ts'
import type { Commits } from '../store/contract.ts'

const PIECE = 500

/**
 * Erases a deleted session piece by piece, from where an earlier attempt stopped; several processes
 * may do it at once. False: the signal ended it first.
 */
export async function eraseDeleted(
  store: Pick<Commits, 'eraseSome'>,
  sessionId: SessionId,
  signal?: AbortSignal,
): Promise<boolean> {
  for (let after: ErasedUpTo | undefined; !signal?.aborted; ) {
    const erased = await store.eraseSome({ sessionId, limit: PIECE, ...(after && { after }) })
    if (erased.kind === 'not-deleted' || !erased.left) return true
    after = erased.upTo
  }
  return false
}
