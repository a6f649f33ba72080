import { LIST_MAX } from '../bounds.ts'
import type { ListMail } from '../queries.ts'
import type { Lane, SessionRow } from '../rows.ts'
import type { Query } from './connections/connections.ts'
import { POSTGRES, toText } from './tables.ts'

export function mailQuery(session: SessionRow, query: ListMail): Query {
  const { lane, state, after = 0, limit } = query
  const most = Math.min(limit, LIST_MAX)
  if (state === 'pending' && lane !== undefined) return pendingQuery(session, lane, after, most)
  const { settled, delivered } = session
  return {
    text: `select ${POSTGRES.mail.columns} from mail
      where session = $1 and number > $2 and lane = coalesce($3, lane)
        and coalesce($4, '') in ('', case
          when state = 'withdrawn' then 'withdrawn'
          when lane = 'control' then case state when 'settled' then 'settled' else 'pending' end
          when number <= case lane when 'user' then $5::bigint else $6::bigint end then 'settled'
          when number <= case lane when 'user' then $7::bigint else $8::bigint end then 'delivered'
          else 'pending' end)
      order by number limit $9`,
    values: [
      toText(session.id),
      after,
      lane ?? null,
      state ?? null,
      settled.user,
      settled.notification,
      delivered.user,
      delivered.notification,
      most,
    ],
  }
}

/**
 * Pending input lies after its cursor, and settled controls are not `admitted`, so finding new mail
 * does not read old mail.
 */
function pendingQuery(session: SessionRow, lane: Lane, after: number, most: number): Query {
  const first = lane === 'control' ? after : Math.max(after, session.delivered[lane])
  return {
    text: `select ${POSTGRES.mail.columns} from mail
      where session = $1 and lane = $2 and state = 'admitted' and number > $3
      order by number limit $4`,
    values: [toText(session.id), lane, first, most],
  }
}
