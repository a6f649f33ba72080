import { entryNumber } from '../base/ids.ts'
import type { ListMail, Look, ReadEntries } from './queries.ts'
import type { Lane, SessionRow } from './tables/rows.ts'

/** Which rows a look needs, given the session's own. */
export interface LookPlan {
  readonly added: ReadEntries | null
  readonly mail: Readonly<Record<Lane, ListMail | null>>
  readonly operations: { readonly sessionId: SessionRow['id']; readonly limit: number } | null
}

export function planLook({ known, limit }: Look, session: SessionRow): LookPlan {
  const { id: sessionId, tail, operation, base, pending, delivered } = session
  const isGrown = known !== null && tail > known.tail
  const isSame = known !== null && known.operation === operation && known.base === base
  const waiting = (lane: Lane): ListMail | null => {
    if (pending[lane] === 0) return null
    const after = lane === 'control' ? {} : { after: delivered[lane] }
    return { sessionId, lane, state: 'pending', ...after, limit }
  }
  return {
    added: isGrown ? { sessionId, from: entryNumber(known.tail + 1), to: tail } : null,
    mail: {
      control: waiting('control'),
      user: waiting('user'),
      notification: waiting('notification'),
    },
    operations: isSame ? null : { sessionId, limit },
  }
}
