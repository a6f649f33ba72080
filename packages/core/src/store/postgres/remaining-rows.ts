import { type Lookup, many, noteKey } from './lookup.ts'
import { POSTGRES } from './tables.ts'

/** The next replies of the whole store, a piece at a time. A reply that was sent changes no more. */
export const REPLIES_AFTER: Lookup = {
  text: `select reply.session, reply.number, reply.state, reply.at,
      reply.number >= session.replies as is_last,
      $1::text as after_session, $2::bigint as after_number, $3::bigint as most
    from reply join session on session.id = reply.session
    where (reply.session, reply.number) > ($1, $2)
    order by reply.session, reply.number limit $3`,
  isSingle: true,
  values: ([args = []]) => args,
  keyOf: (row) => ['after_session', 'after_number', 'most'].map((name) => row[name] as string),
  decode: many(({ session, number, state, at, is_last: isLast }) => {
    return { sessionId: session, number, state, at, isLast }
  }),
}

/** The oldest model calls. Of two processes that drop some at once, neither takes what the other has locked. */
export const ATTEMPTS_BEFORE: Lookup = {
  text: `select ${POSTGRES.attempt.columns}, $1::bigint as before, $2::bigint as most from attempt
    where at < $1 order by at limit $2 for update skip locked`,
  isSingle: true,
  values: ([args = []]) => args,
  keyOf: (row) => [row['before'] as number, row['most'] as number],
  decode: many(POSTGRES.attempt.decode),
}

/** A control item drops its body when it is settled, and keeps its key. */
const REMAINING_BODIES = ['entry', 'mail', 'reply'].map(
  (table, index) => `select '${table}' as what, number, null as hash, null as agent,
    null as channel, null as address, null::bigint as version from ${table}
    where session = $1 and number > ${table === 'entry' ? 'greatest($3::bigint, $6::bigint)' : `$${index + 3}`}
      and ${table === 'mail' ? '(body is not null or key is not null)' : 'body is not null'} order by number limit $2`,
)

/** The remaining rows of a session that is being erased, a piece at a time. */
export const REMAINING_ROWS: Lookup = {
  text: `select rest.*, $1 as session, $2::bigint as most, $3::bigint as entry, $4::bigint as mail,
    $5::bigint as reply, $6::bigint as retained from (${[
      ...REMAINING_BODIES,
      `select 'blob', null, encode(hash, 'hex'), null, null, null, null from blob
        where session = $1 and ($6::bigint = 0 or encode(hash, 'hex') not in (
          select used from entry cross join lateral
            json_array_elements_text(coalesce(entry.meta::json -> 'blobs', '[]')) as used
          where entry.session = $1 and number <= $6 and body is not null
        )) limit $2`,
      `select 'route', null, null, agent, channel, address, version from route
        where session = $1 limit $2`,
      `select 'schedule', null, id, null, null, null, null from schedule
        where session = $1 limit $2`,
      `select 'note', null, id, agent, scope, null, null from note
        where origin_session = $1 limit $2`,
    ]
      .map((select) => `(${select})`)
      .join(' union all ')}) as rest`,
  isSingle: true,
  values: ([args = []]) => args,
  keyOf: (row) =>
    ['session', 'most', 'entry', 'mail', 'reply', 'retained'].map((name) => row[name] as string),
  decode: (rows) => {
    const of = (what: string) => rows.filter((row) => row['what'] === what)
    return {
      entries: of('entry').map((row) => row['number']),
      mail: of('mail').map((row) => row['number']),
      replies: of('reply').map((row) => row['number']),
      blobs: of('blob').map((row) => row['hash']),
      routes: of('route').map(POSTGRES.route.decode),
      schedules: of('schedule').map((row) => row['hash']),
      notes: of('note').map((row) => noteKey({ ...row, scope: row['channel'], id: row['hash'] })),
    }
  },
}
