import { queuesChangedBy } from '../rules/outbox.ts'
import type { Erase, Replaced, StoreChange } from '../rules/ruling.ts'
import { lastSearched } from '../search/words.ts'
import type { SessionRow } from '../tables/rows.ts'
import { ERASED_TEXTS, USAGE_SUMS } from '../tables/tables.ts'
import type { Query } from './connections/connections.ts'
import type { Resealed } from './seals/reseal.ts'
import {
  type Columns,
  encodeAudit,
  POSTGRES,
  type PostgresTable,
  prefixed,
  toBytes,
  toText,
} from './tables.ts'
import { vectorWrites } from './vectors/vectors.ts'

/**
 * The statements that write one change, sent together with the commit. The session row comes first,
 * and its `where` clause checks what the rule relied on. Many rows of a table are one statement
 * with one parameter; if a row may exist, only the columns that can change are set.
 */
export function writeChange(change: StoreChange, at: number, resealed: Resealed): readonly Query[] {
  const { sessions = [], runners = [], senders = [], blobUses = [], drafts = [] } = change
  const born = sessions.filter(({ before }) => before === null).map(({ after }) => after)
  return [
    ...sessions.flatMap(({ before, after }) => (before === null ? [] : [update(before, after)])),
    ...put(INSERT_SESSION, born.map(POSTGRES.session.encode)),
    ...put(
      PUT_RUNNER,
      runners.flatMap(({ after }) => (after === null ? [] : [POSTGRES.runner.encode(after)])),
    ),
    ...some(
      'delete from runner where id = any($1)',
      runners.filter(({ after }) => after === null).map(({ id }) => toText(id)),
    ),
    ...put(
      PUT_MAIL,
      (change.mail ?? []).map(({ sessionId, mail }) =>
        POSTGRES.mail.encode({ sessionId, ...mail }),
      ),
    ),
    ...put(INSERT_INTAKE, (change.intake ?? []).map(POSTGRES.intake.encode)),
    ...put(PUT_SENDER, senders.filter(({ pending }) => pending > 0).map(POSTGRES.sender.encode)),
    ...put(
      REMOVE_SENDER,
      senders.filter(({ pending }) => pending === 0).map(POSTGRES.sender.encode),
    ),
    ...put(PUT_OPERATION, (change.operations ?? []).map(POSTGRES.operation.encode)),
    ...put(
      INSERT_ENTRY,
      (change.entries ?? []).map(({ sessionId, entry }) =>
        POSTGRES.entry.encode({ sessionId, ...entry }),
      ),
    ),
    ...[...lastSearched(change)].map(([id, number]) => ({
      text: MARK_UNINDEXED,
      values: [toText(id), number],
    })),
    ...put(PUT_REPLY, (change.replies ?? []).map(POSTGRES.reply.encode)),
    ...put(
      REMOVE_REPLY,
      (change.repliesRemoved ?? []).map(({ sessionId, number }) => ({
        session: sessionId,
        number,
      })),
    ),
    ...put(
      SET_LEADERS,
      queuesChangedBy(change.replies ?? []).map(({ edge, sessionId, address }) => ({
        ...{ edge: toText(edge), session: sessionId, address: toText(address) },
      })),
    ),
    ...(change.routes ?? []).map((route) => ({
      text: route.version === 1 ? INSERT_ROUTE : UPDATE_ROUTE,
      values: [JSON.stringify([POSTGRES.route.encode(route)])],
    })),
    ...put(
      REMOVE_ROUTE,
      (change.routesRemoved ?? []).map(({ agent, channel, address }) => ({
        agent: toText(agent),
        channel: toText(channel),
        address: toText(address),
      })),
    ),
    ...(change.blobs ?? []).map((blob) => ({
      text: INSERT_BLOB,
      values: Object.values(POSTGRES.blob.encode(blob)),
    })),
    ...put(SET_USES, resealed.blobs),
    ...put(REMOVE_BLOB, blobUses.filter(({ uses }) => uses === 0).map(encodeUses)),
    ...put(PUT_DRAFT, drafts.filter(({ ids }) => ids.length > 0).map(POSTGRES.draft.encode)),
    ...put(REMOVE_DRAFT, drafts.filter(({ ids }) => ids.length === 0).map(POSTGRES.draft.encode)),
    ...(change.draftsRemoved === undefined
      ? []
      : [{ text: 'delete from draft where session = $1', values: [change.draftsRemoved] }]),
    ...(change.sendersRemoved === undefined
      ? []
      : [{ text: 'delete from sender where session = $1', values: [change.sendersRemoved] }]),
    ...put(INSERT_ATTEMPT, (change.attempts ?? []).map(POSTGRES.attempt.encode)),
    ...some('delete from attempt where id = any($1)', change.attemptsRemoved ?? []),
    ...put(ADD_USAGE, (change.usage ?? []).map(POSTGRES.usage.encode)),
    ...replace(POSTGRES.schedule, INSERT_SCHEDULE, UPDATE_SCHEDULE, change.schedules),
    ...some('delete from schedule where id = any($1)', change.schedulesRemoved ?? []),
    ...replace(POSTGRES.note, INSERT_NOTE, UPDATE_NOTE, change.notes),
    ...put(
      REMOVE_NOTE,
      (change.notesRemoved ?? []).map(({ agent, scope, id }) => ({
        ...{ agent: toText(agent), scope: toText(scope), id },
      })),
    ),
    ...put(INSERT_TOKEN, (change.tokens ?? []).map(POSTGRES.token.encode)),
    ...some('delete from token where id = any($1)', change.tokensRemoved ?? []),
    ...vectorWrites(change),
    ...(change.erase ?? []).flatMap(erase),
    ...put(ERASE_MAIL, resealed.mail),
    ...put(ERASE_REPLY, resealed.reply),
    ...put(
      INSERT_AUDIT,
      (change.audit ?? []).map((draft) => encodeAudit(draft, at)),
    ),
  ]
}

function insert(table: string, columns: string, rest = ''): string {
  return `insert into ${table} (${columns})
    select ${columns} from json_populate_recordset(null::${table}, $1) ${rest}`
}

const INSERT_SESSION = insert('session', POSTGRES.session.columns)
const INSERT_BLOB = `insert into blob (${POSTGRES.blob.columns}) values ($1, $2, $3, $4, $5, $6, $7)`
const INSERT_ENTRY = insert('entry', POSTGRES.entry.columns)
const INSERT_INTAKE = insert('intake', POSTGRES.intake.columns)
const INSERT_ATTEMPT = insert('attempt', POSTGRES.attempt.columns)
const ADD_USAGE = insert(
  'usage',
  POSTGRES.usage.columns,
  `on conflict (session, day, model_route, task, host) do update
     set ${USAGE_SUMS.map((name) => `${name} = usage.${name} + excluded.${name}`).join(', ')}`,
)
const INSERT_AUDIT = insert('audit', 'session, operation, phase, line')
const INSERT_ROUTE = insert('route', POSTGRES.route.columns)
const INSERT_SCHEDULE = insert('schedule', POSTGRES.schedule.columns)
const INSERT_NOTE = insert('note', POSTGRES.note.columns)
const INSERT_TOKEN = insert('token', POSTGRES.token.columns)
const UPDATE_SCHEDULE = `update schedule set (${POSTGRES.schedule.columns}) =
    (select ${prefixed(POSTGRES.schedule.columns, 'next')})
  from json_populate_recordset(null::schedule, $1) as next where schedule.id = next.id`
const UPDATE_NOTE = `update note set (${POSTGRES.note.columns}) = (select ${prefixed(POSTGRES.note.columns, 'next')})
  from json_populate_recordset(null::note, $1) as next
  where (note.agent, note.scope, note.id) = (next.agent, next.scope, next.id)`
const REMOVE_NOTE = `delete from note using json_populate_recordset(null::note, $1) as old
  where (note.agent, note.scope, note.id) = (old.agent, old.scope, old.id)`
const PUT_DRAFT = insert(
  'draft',
  POSTGRES.draft.columns,
  'on conflict (session, key) do update set ids = excluded.ids, at = excluded.at',
)
const REMOVE_DRAFT = `delete from draft using json_populate_recordset(null::draft, $1) as old
  where (draft.session, draft.key) = (old.session, old.key)`
const REMOVE_REPLY = `delete from reply using json_populate_recordset(null::reply, $1) as old
  where (reply.session, reply.number) = (old.session, old.number)`
const PUT_RUNNER = insert(
  'runner',
  POSTGRES.runner.columns,
  'on conflict (id) do update set beat = excluded.beat',
)
const PUT_MAIL = insert(
  'mail',
  POSTGRES.mail.columns,
  `on conflict (session, number) do update
     set state = excluded.state, body = excluded.body, seal = excluded.seal`,
)
const PUT_SENDER = insert(
  'sender',
  POSTGRES.sender.columns,
  'on conflict (session, source) do update set pending = excluded.pending, seal = excluded.seal',
)
const PUT_OPERATION = insert(
  'operation',
  POSTGRES.operation.columns,
  `on conflict (id) do update
     set state = excluded.state, result = excluded.result, ended_at = excluded.ended_at,
       seal = excluded.seal`,
)
const PUT_REPLY = insert(
  'reply',
  POSTGRES.reply.columns,
  `on conflict (session, number) do update set state = excluded.state, attempt = excluded.attempt,
     claimant = excluded.claimant, due_at = excluded.due_at, receipt = excluded.receipt`,
)
/** Marks the first waiting reply for an address. It keeps the mark while it waits. */
const SET_LEADERS = `with first as materialized (
    select queue.session, (
      select number from reply as waiting
      where waiting.edge = queue.edge and waiting.state = 'waiting'
        and waiting.session = queue.session and waiting.address = queue.address
        and waiting.body is not null
      order by waiting.number limit 1
    ) as number
    from json_populate_recordset(null::reply, $1) as queue
  )
  update reply set leads = true from first
  where reply.session = first.session and reply.number = first.number and not reply.leads`
const UPDATE_ROUTE = `update route set session = next.session, version = next.version, seal = next.seal
  from json_populate_recordset(null::route, $1) as next
  where (route.agent, route.channel, route.address) = (next.agent, next.channel, next.address)`
const REMOVE_ROUTE = `delete from route using json_populate_recordset(null::route, $1) as old
  where (route.agent, route.channel, route.address) = (old.agent, old.channel, old.address)`
const SET_USES = `update blob set uses = next.uses, seal = next.seal
  from json_populate_recordset(null::blob, $1) as next
  where blob.session = next.session and blob.hash = next.hash`

const REMOVE_BLOB = `delete from blob using json_populate_recordset(null::blob, $1) as old
  where blob.session = old.session and blob.hash = old.hash`
const REMOVE_SENDER = `delete from sender using json_populate_recordset(null::sender, $1) as old
  where sender.session = old.session and sender.source = old.source`

const MARK_UNINDEXED = `insert into unindexed (session, number) values ($1, $2)
  on conflict do nothing`

type BlobUses = NonNullable<StoreChange['blobUses']>[number]
function encodeUses({ sessionId, hash, uses }: BlobUses): Columns {
  return { session: sessionId, hash: toBytes(hash), uses }
}

const UPDATE_SESSION = `with changed as (
    update session set (${POSTGRES.session.columns}) =
      (select ${POSTGRES.session.columns} from json_populate_record(null::session, $1))
    where id = $2 and state = $3 and fence = $4 and holder is not distinct from $5
      and tail = $6 and tail_hash = $7 and mail = $8
    returning 1
  ) select must_change_one(count(*)) from changed`

/** Under the lock the condition cannot fail; if it does, the statement and the commit fail. */
function update(before: SessionRow, after: SessionRow): Query {
  const { id, state, fence, holder, tail, tailHash, mail } = before
  const guard = [id, state, fence, holder, tail, toBytes(tailHash), mail]
  return {
    text: UPDATE_SESSION,
    values: [JSON.stringify(POSTGRES.session.encode(after)), ...guard],
  }
}

/**
 * `unindex` has already removed the words, in the same transaction: it finds the pages by the
 * texts.
 */
function erase({ sessionId, entries }: Erase): readonly Query[] {
  if (entries.length === 0) return []
  return ['update entry set body = null, salt = null', 'delete from entry_vector'].map((text) => ({
    text: `${text} where session = $1 and number = any($2)`,
    values: [sessionId, entries],
  }))
}

const ERASE_MAIL = eraseTexts('mail')
const ERASE_REPLY = eraseTexts('reply')

/** With a new seal: an erased text could be guessed from the old one. */
function eraseTexts(table: keyof typeof ERASED_TEXTS): string {
  const texts = Object.keys(ERASED_TEXTS[table]).map((text) => `${text} = null`)
  return `update ${table} set ${texts.join(', ')}, seal = next.seal
    from json_populate_recordset(null::${table}, $1) as next
    where (${table}.session, ${table}.number) = (next.session, next.number)`
}

/** A new row must not exist yet; a row that was read has been locked since. */
function replace<Row>(
  { encode }: PostgresTable<Row>,
  insertText: string,
  updateText: string,
  rows: readonly Replaced<Row>[] = [],
): readonly Query[] {
  const encoded = (isNew: boolean) =>
    rows.filter(({ before }) => (before === null) === isNew).map(({ after }) => encode(after))
  return [...put(insertText, encoded(true)), ...put(updateText, encoded(false))]
}

function some(text: string, values: readonly string[]): readonly Query[] {
  return values.length === 0 ? [] : [{ text, values: [values] }]
}

/**
 * Characters of JSON per statement, so that an import of any size stays below the server's limits.
 */
const BATCH_LENGTH = 4_000_000

function put(text: string, rows: readonly Columns[]): readonly Query[] {
  const queries: Query[] = []
  let batch: string[] = []
  let length = 0
  const flush = () => {
    if (batch.length > 0) queries.push({ text, values: [`[${batch.join(',')}]`] })
    batch = []
    length = 0
  }
  for (const row of rows) {
    const json = JSON.stringify(row)
    if (length + json.length > BATCH_LENGTH) flush()
    batch.push(json)
    length += json.length
  }
  flush()
  return queries
}
