import { DELIVERY_MAX } from '../bounds.ts'
import { compactionMetaOf, FOLDED_KINDS } from '../fold.ts'
import { PROPOSED } from '../operational-rows.ts'
import type { ForkPrefix } from '../rules/ruling.ts'
import { ERASURE_LOOKUPS } from './erasures/lookups.ts'
import { checkedDeletions, decodeReadable, withoutNotDeleted } from './erasures/records.ts'
import {
  ASKED_ROUTES,
  column,
  count,
  hashArgs,
  type Lookup,
  many,
  noteKey,
  numberArgs,
  one,
  routeKey,
  routeValues,
  sessionAnd,
  textArgs,
} from './lookup.ts'
import { ATTEMPTS_BEFORE, REMAINING_ROWS, REPLIES_AFTER } from './remaining-rows.ts'
import { BLOB_LOOKUPS, SENDER_LOOKUPS } from './seals/lookups.ts'
import {
  type Columns,
  decodeNextReply,
  decodeRoute,
  fromText,
  POSTGRES,
  POSTGRES_HEAD_COLUMNS,
  prefixed,
  toText,
} from './tables.ts'
import { VECTOR_LOOKUPS } from './vectors/lookups.ts'

/** Each request with the sessions that store the requested entries. */
const ASKED_ENTRIES = `unnest($1::text[], $2::bigint[]) as asked (session, number)
  cross join lateral lineage(asked.session) as line`
const LOCK_SESSION = 'for no key update'
function route(lock: string): Lookup {
  return {
    text: `select ${prefixed(POSTGRES.route.columns, 'route')} from route
      join ${ASKED_ROUTES} using (agent, channel, address)
      order by agent, channel, address ${lock} of route`,
    values: routeValues,
    keyOf: routeKey,
    decode: one(decodeRoute),
  }
}

function session(where: string, values: Lookup['values'], rest: Partial<Lookup> = {}): Lookup {
  return {
    text: `select ${POSTGRES.session.columns} from session where ${where} order by id ${LOCK_SESSION}`,
    values,
    keyOf: column('id'),
    check: checkedDeletions,
    decode: one(POSTGRES.session.decode),
    guards: true,
    ...rest,
  }
}

function runner(lock: string): Lookup {
  return {
    text: `select ${POSTGRES.runner.columns} from runner where id = any($1) order by id ${lock}`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('id'),
    decode: one(POSTGRES.runner.decode),
  }
}

function forkPrefix(rows: readonly Columns[]): ForkPrefix {
  const heads = rows.map(POSTGRES.entry.decode)
  const upto = (rows[0]?.['upto'] ?? 0) as number
  const within = heads.filter(({ number }) => number <= upto)
  const last = within.findLastIndex(({ kind }) => kind === 'assistant' || kind === 'turn')
  return {
    folded: heads.filter(({ kind }) => (FOLDED_KINDS as readonly string[]).includes(kind)),
    newest: last === -1 ? [] : within.slice(last),
  }
}

/**
 * How to find each kind of row that a rule may read. The order of this list is the lock order of
 * every transaction: route, session, runner, blob, reply. What a session's lock guards is read by a
 * later statement than the one that took the lock: a statement that waited for a lock still sees
 * all other rows as they were before.
 */
export const LOOKUPS = {
  route: route('for share'),
  routeToChange: route('for update'),
  session: session('id = any($1)', (asked) => [textArgs(asked, 0)]),
  sessionOfRoute: session(
    `id in (select session from route join ${ASKED_ROUTES} using (agent, channel, address))`,
    routeValues,
    { serves: 'session' },
  ),
  sessionOfOperation: session(
    'id in (select session from operation where id = any($1))',
    (asked) => [textArgs(asked, 0)],
    { serves: 'session' },
  ),
  sessionOfSchedule: session(
    'id in (select session from schedule where id = any($1))',
    (asked) => [textArgs(asked, 0)],
    { serves: 'session' },
  ),
  // Origins are created before their forks, and locked before them.
  related: {
    text: `select ${POSTGRES.session.columns}, coalesce(root, id) as asked from session
      where id = any($1) or root = any($1) order by n ${LOCK_SESSION}`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('asked'),
    check: checkedDeletions,
    decode: many(POSTGRES.session.decode),
    guards: true,
  },
  heldBy: session('runner = any($1)', (asked) => [textArgs(asked, 0)], {
    keyOf: column('runner'),
    check: withoutNotDeleted,
    decode: decodeReadable,
  }),
  // Others rely only on the runner's existence; only its own verbs change the row.
  runner: runner('for key share'),
  runnerToRenew: runner('for no key update'),
  runnerToChange: runner('for update'),
  holderOf: {
    text: `select ${POSTGRES.runner.columns} from runner
      where id = any(array(select runner from session where id = any($1))) for key share`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('id'),
    decode: one(POSTGRES.runner.decode),
    serves: 'runner',
  },
  ...BLOB_LOOKUPS,
  reply: {
    text: `select ${prefixed(POSTGRES.reply.columns, 'reply')} from reply
      join unnest($1::text[], $2::bigint[]) as asked (session, number) using (session, number)
      for update of reply`,
    values: (asked) => [textArgs(asked, 0), numberArgs(asked, 1)],
    keyOf: sessionAnd('number'),
    decode: one(POSTGRES.reply.decode),
  },
  // Skipping locked rows keeps senders apart; only the first waiting reply for an address leads.
  nextReply: {
    text: `select ${POSTGRES.reply.columns}, $1::text as asked_edge, $2::bigint as asked_at from reply
      where edge = $1 and state = 'waiting' and leads and body is not null and due_at <= $2
        and (claimant is null or claimant not in (select id from runner))
      order by due_at, at, session, number limit 1 for update skip locked`,
    isSingle: true,
    values: ([args = []]) => [toText(String(args[0])), args[1]],
    keyOf: (row) => [fromText(row['asked_edge'] as string), row['asked_at'] as number],
    decode: one(decodeNextReply),
  },
  schedule: {
    text: `select ${POSTGRES.schedule.columns} from schedule where id = any($1) order by id for update`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('id'),
    decode: one(POSTGRES.schedule.decode),
  },
  waitingSchedules: {
    text: `select session, count(*) as count from schedule
      where session = any($1) and state = 'waiting' group by session`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('session'),
    decode: count,
  },
  note: {
    text: `select ${prefixed(POSTGRES.note.columns, 'note')} from note
      join unnest($1::text[], $2::text[], $3::text[]) as asked (agent, scope, id)
        using (agent, scope, id)
      order by agent, scope, id for update of note`,
    values: (asked) => [textArgs(asked, 0), textArgs(asked, 1), textArgs(asked, 2)],
    keyOf: (row) => ['agent', 'scope', 'id'].map((name) => fromText(row[name] as string)),
    decode: one(POSTGRES.note.decode),
  },
  // Counted without a lock: two simultaneous notes may exceed the bound by one.
  notes: {
    text: `select agent, scope, count(*) as count from note
      join unnest($1::text[], $2::text[]) as asked (agent, scope) using (agent, scope)
      group by agent, scope`,
    values: (asked) => [textArgs(asked, 0), textArgs(asked, 1)],
    keyOf: (row) => ['agent', 'scope'].map((name) => fromText(row[name] as string)),
    decode: count,
  },
  notesFrom: {
    text: `select agent, scope, id, asked.session, asked.entry from note
      join unnest($1::text[], $2::bigint[]) as asked (session, entry)
        on origin_session = asked.session and origin_entry >= asked.entry
        and (origin_entry = asked.entry or starts_with(id, '${PROPOSED}')) order by agent, scope, id`,
    values: (asked) => [textArgs(asked, 0), numberArgs(asked, 1)],
    keyOf: sessionAnd('entry'),
    decode: many(noteKey),
  },
  token: {
    text: `select ${POSTGRES.token.columns} from token where id = any($1) for update`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('id'),
    decode: one(POSTGRES.token.decode),
  },
  tokenOf: {
    text: `select ${POSTGRES.token.columns} from token where hash = any($1::bytea[])`,
    values: (asked) => [hashArgs(asked, 0)],
    keyOf: (row) => [(row['hash'] as Buffer).toString('hex')],
    decode: one(POSTGRES.token.decode),
  },
  tokens: {
    text: 'select count(*) as count from token',
    values: () => [],
    keyOf: () => [],
    decode: count,
  },
  intake: {
    text: `select ${POSTGRES.intake.columns} from intake where key_hash = any($1::bytea[])`,
    values: (asked) => [hashArgs(asked, 0)],
    keyOf: (row) => [(row['key_hash'] as Buffer).toString('hex')],
    decode: one(POSTGRES.intake.decode),
  },
  mail: {
    text: `select ${prefixed(POSTGRES.mail.columns, 'mail')} from mail
      join unnest($1::text[], $2::bigint[]) as asked (session, number) using (session, number)`,
    values: (asked) => [textArgs(asked, 0), numberArgs(asked, 1)],
    keyOf: sessionAnd('number'),
    decode: one(POSTGRES.mail.decode),
  },
  /** Input after the session's cursors, as many per lane as one delivery can take. */
  waiting: {
    text: `select session.id as session, lanes.lane, waiting.number from session
      cross join (values ('user'), ('notification')) as lanes (lane)
      cross join lateral (
        select number from mail
        where mail.session = session.id and mail.lane = lanes.lane and mail.state = 'admitted'
          and number > (session.delivered::json ->> lanes.lane)::bigint
        order by number limit ${DELIVERY_MAX + 1}
      ) as waiting
      where session.id = any($1) order by waiting.number`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('session'),
    decode: many(({ lane, number: waiting }) => ({ lane, number: waiting })),
  },
  waitingStops: {
    text: `select ${POSTGRES.mail.columns} from mail
      where session = any($1) and lane = 'control' and state = 'admitted' and control = 'stop'
      order by session, number`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('session'),
    decode: many(POSTGRES.mail.decode),
  },
  ...SENDER_LOOKUPS,
  entry: {
    text: `select ${prefixed(POSTGRES.entry.columns, 'entry')}, asked.session as asked from ${ASKED_ENTRIES}
      join entry on entry.session = line.keeper and entry.number = asked.number
      where asked.number between line.first and line.last`,
    values: (asked) => [textArgs(asked, 0), numberArgs(asked, 1)],
    keyOf: (row) => [row['asked'] as string, row['number'] as number],
    decode: one(POSTGRES.entry.decode),
  },
  /** Input that was in the context of no committed step; the older entries are not read. */
  unseen: {
    text: `select ${prefixed(POSTGRES_HEAD_COLUMNS, 'entry')} from session cross join lateral (
        select * from entry where entry.session = session.id and kind = 'input'
          and number > session.seen offset 0
      ) as entry where session.id = any($1) order by entry.session, entry.number`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('session'),
    decode: many(POSTGRES.entry.decode),
  },
  inputsAfter: {
    text: `select ${prefixed(POSTGRES_HEAD_COLUMNS, 'entry')}, asked.number as after, asked.session as asked
      from ${ASKED_ENTRIES} cross join lateral (
        select * from entry where entry.session = line.keeper and kind = 'input'
          and number between greatest(line.first, asked.number + 1) and line.last offset 0
      ) as entry order by entry.number`,
    values: (asked) => [textArgs(asked, 0), numberArgs(asked, 1)],
    keyOf: (row) => [row['asked'] as string, row['after'] as number],
    decode: many(POSTGRES.entry.decode),
  },
  forkPrefix: {
    text: `select ${prefixed(POSTGRES_HEAD_COLUMNS, 'entry')}, asked.number as upto, asked.session as asked
      from unnest($1::text[], $2::bigint[]) as asked (session, number)
      join session on session.id = asked.session
      cross join lateral (
        select max(spoken.number) as number from lineage(asked.session) as line
        cross join lateral (
          select number from entry where entry.session = line.keeper
            and number between line.first and least(line.last, asked.number)
            and kind in ('assistant', 'turn') order by number desc limit 1
        ) as spoken
      ) as newest
      cross join lateral lineage(asked.session) as line
      cross join lateral (
        (select * from entry where entry.session = line.keeper
          and number between line.first and least(line.last, greatest(asked.number, settings))
          and kind not in ('input', 'assistant', 'result', 'turn'))
        union all
        (select * from entry where entry.session = line.keeper
          and number between greatest(line.first, newest.number) and least(line.last, asked.number)
          and kind in ('input', 'assistant', 'result', 'turn'))
      ) as entry
      order by entry.number`,
    values: (asked) => [textArgs(asked, 0), numberArgs(asked, 1)],
    keyOf: (row) => [row['asked'] as string, row['upto'] as number],
    decode: forkPrefix,
  },
  handoffs: {
    text: `select ${POSTGRES_HEAD_COLUMNS} from entry where session = any($1)
      and kind not in ('input', 'assistant', 'result', 'turn') order by session, number`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('session'),
    decode: (rows) =>
      rows.map(POSTGRES.entry.decode).filter((entry) => compactionMetaOf(entry) !== undefined),
  },
  operation: {
    text: `select ${POSTGRES.operation.columns} from operation where id = any($1)`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('id'),
    decode: one(POSTGRES.operation.decode),
  },
  runningOf: {
    text: `select ${POSTGRES.operation.columns} from operation
      where id in (select operation from session where id = any($1))`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('id'),
    decode: one(POSTGRES.operation.decode),
    serves: 'operation',
  },
  repliesOf: {
    text: `select ${prefixed(POSTGRES.reply.columns, 'reply')} from reply
      join unnest($1::text[], $2::bigint[]) as asked (session, entry) using (session, entry)
      order by number`,
    values: (asked) => [textArgs(asked, 0), numberArgs(asked, 1)],
    keyOf: sessionAnd('entry'),
    decode: many(POSTGRES.reply.decode),
  },
  attempt: {
    text: `select ${POSTGRES.attempt.columns} from attempt where id = any($1)`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('id'),
    decode: one(POSTGRES.attempt.decode),
  },
  attemptsBefore: ATTEMPTS_BEFORE,
  repliesAfter: REPLIES_AFTER,
  remainingRows: REMAINING_ROWS,
  ...ERASURE_LOOKUPS,
  ...VECTOR_LOOKUPS,
} as const satisfies Record<string, Lookup>

export type LookupName = keyof typeof LOOKUPS
export const LOOKUP_NAMES = Object.keys(LOOKUPS) as LookupName[]
