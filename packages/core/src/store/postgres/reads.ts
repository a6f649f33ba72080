import { DAY_MS } from '../../base/clock.ts'
import { LIST_MAX } from '../bounds.ts'
import { conditionsOf } from '../conditions.ts'
import type { Reads, ReadVerb } from '../contract.ts'
import type { AttemptGrouping, AttemptSum, SumAttempts } from '../operational-rows.ts'
import { ColumnsCache } from '../search/columns-cache.ts'
import type { SessionRow } from '../tables/rows.ts'
import { checkedAudit, checkedBlob } from '../verify/answers.ts'
import { type Connections, inSnapshot, type Query } from './connections/connections.ts'
import {
  checkedDeletions,
  decodeReadable,
  decodeRecorded,
  type SendQueries,
} from './erasures/records.ts'
import { CHAIN, CHAIN_END } from './maintenance.ts'
import { POSTGRES_SCHEMA } from './schema.ts'
import { searchPostgres } from './search.ts'
import { listMail, lookAt, operationsQuery, readContext, readEntriesIn } from './session-reads.ts'
import {
  AUDIT_COLUMNS,
  type Columns,
  decodeAudit,
  decodeRoute,
  fromText,
  POSTGRES,
  type PostgresTable,
  toBytes,
  toText,
} from './tables.ts'
import { readUnembedded } from './vectors/vectors.ts'
import { verifyPostgres } from './verify.ts'

const most = (limit: number) => Math.min(limit, LIST_MAX)
const optional = (text: string | undefined) => (text === undefined ? undefined : toText(text))
const place = (nth: number) => `$${nth}`
/** A literal, because a partial index is not matched with a parameter. */
const onlyState = (only: string, state: string | undefined) =>
  state === only ? ([`state = '${only}'`] as const) : (['state = ?', state] as const)

const SUMS = [
  'attempts',
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'cost',
  'unpriced',
] as const
const CALL_SUMS = `coalesce(sum(attempts), 0) as attempts, coalesce(sum(input_tokens), 0) as "inputTokens",
  coalesce(sum(output_tokens), 0) as "outputTokens", coalesce(sum(cached_tokens), 0) as "cachedTokens",
  coalesce(sum(cost), 0) as cost, coalesce(sum(unpriced), 0) as unpriced`

/** The keys that are no column. */
const utc = (seconds: string, form: string) =>
  `to_char(to_timestamp(${seconds}) at time zone 'UTC', '${form}')`
const KEYS: Readonly<Partial<Record<AttemptGrouping, string>>> = {
  day: utc('day * 86400', 'YYYY-MM-DD'),
  hour: utc('at / 1000', 'YYYY-MM-DD"T"HH24'),
}

const decodeSums = (columns: Columns) =>
  Object.fromEntries(SUMS.map((name) => [name, Number(columns[name])])) as unknown as AttemptSum

/** All reads. Statements of one read share a snapshot. */
export function postgresReads(connections: Connections): { readonly [V in ReadVerb]: Reads[V] } {
  const cache = new ColumnsCache()
  const all = async <Row>(
    text: string,
    values: readonly unknown[],
    decode: (columns: Columns) => Row,
  ): Promise<readonly Row[]> => (await connections.query({ text, values })).map(decode)
  /** Without changed rows: such a note enters no context, such a token opens nothing. */
  const whole = async <Row>(
    { isWhole, decode }: PostgresTable<Row>,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly Row[]> =>
    (await connections.query({ text, values })).filter(isWhole).map(decode)
  const ask: SendQueries = (queries) =>
    Promise.all(queries.map((query) => connections.query(query)))
  const first = async <Row>(
    text: string,
    values: readonly unknown[],
    decode: (columns: Columns) => Row,
  ): Promise<Row | undefined> => (await all(text, values, decode))[0]

  return {
    readStore: async () => {
      const [row = {}] = await readChained(connections, CHAIN_END)
      const { id, commits, hash } = row as { id: string; commits: number; hash: string }
      return { id, schema: POSTGRES_SCHEMA, commits, hash }
    },
    readSize: async () => {
      const text = `select coalesce(sum(pg_total_relation_size(oid)), 0) as bytes from pg_class
        where relnamespace = current_schema()::regnamespace and relkind = 'r'`
      const [row = {}] = await connections.query({ text, values: [] })
      return Number((row as { bytes: string }).bytes)
    },
    findSession: async (id) => {
      const text = `select ${POSTGRES.session.columns} from session where id = $1`
      const rows = await connections.query({ text, values: [toText(id)] })
      return (await checkedDeletions(ask, rows)).map(POSTGRES.session.decode)[0]
    },
    look: (query) => inSnapshot(connections, (loan) => lookAt(loan, query)),
    listSessions: async ({ agent, state, after = '', limit }) => {
      const found: SessionRow[] = []
      for (let behind = toText(after); ; ) {
        const wanted = most(limit) - found.length
        const where = conditionsOf(
          [['id > ?', behind], ['agent = ?', optional(agent)], onlyState('erasing', state)],
          place,
        )
        const text = `select ${POSTGRES.session.columns} from session
          where ${where.text} order by id limit ${place(where.values.length + 1)}`
        const rows = await connections.query({ text, values: [...where.values, wanted] })
        found.push(...(await decodeRecorded(ask, rows)))
        behind = String(rows.at(-1)?.['id'])
        // A short page is the last one.
        if (rows.length < wanted || found.length === most(limit)) return found
      }
    },
    readReady: async ({ agents, at, limit }) => {
      const rows = await connections.query({
        text: `select ${POSTGRES.session.columns} from session
         where id in (
             select id from session where work and agent = any($1)
             union select id from session where wake_at <= $2 and wake_at is not null
           )
           and state = 'open' and agent = any($1)
           and (runner is null or runner not in (select id from runner))
         order by n limit $3`,
        values: [agents.map(toText), at, most(limit)],
      })
      return decodeReadable(rows)
    },
    listRunners: () =>
      all(`select ${POSTGRES.runner.columns} from runner order by id`, [], POSTGRES.runner.decode),
    readEntries: (query) => inSnapshot(connections, (loan) => readEntriesIn(loan, query)),
    readContext: (query) => inSnapshot(connections, (loan) => readContext(loan, query)),
    listMail: (query) => inSnapshot(connections, (loan) => listMail(loan, query)),
    findOperation: (id) =>
      first(
        `select ${POSTGRES.operation.columns} from operation where id = $1`,
        [toText(id)],
        POSTGRES.operation.decode,
      ),
    listOperations: async (query) =>
      (await connections.query(operationsQuery(query))).map(POSTGRES.operation.decode),
    listReplies: ({ sessionId, state, after = 0, limit }) => {
      const where = conditionsOf<unknown>(
        [
          ['session = ?', optional(sessionId)],
          ['number > ?', sessionId && after],
          ['state = ?', state],
          ...(state === undefined || state === 'sent' ? [] : [["state <> 'sent'"] as const]),
        ],
        place,
      )
      const text = `select ${POSTGRES.reply.columns} from reply where ${where.text}
        order by session, number limit ${place(where.values.length + 1)}`
      return all(text, [...where.values, most(limit)], POSTGRES.reply.decode)
    },
    findRoute: ({ agent, channel, address }) =>
      first(
        `select ${POSTGRES.route.columns} from route where agent = $1 and channel = $2 and address = $3`,
        [toText(agent), toText(channel), toText(address)],
        decodeRoute,
      ),
    listRoutes: ({ sessionId }) =>
      all(
        `select ${POSTGRES.route.columns} from route where session = $1 order by agent, channel, address`,
        [toText(sessionId)],
        POSTGRES.route.decode,
      ),
    readAudit: async ({ after, sessionId, limit }) => {
      const rows = await readChained(connections, {
        text: `select ${AUDIT_COLUMNS} from audit where cursor > $1
          ${sessionId === undefined ? '' : 'and session = $3'} order by cursor limit $2`,
        values: [after, most(limit), ...(sessionId === undefined ? [] : [toText(sessionId)])],
      })
      return checkedAudit(rows.map(decodeAudit), after)
    },
    readAttempts: (query) => {
      const where = callConditions(query, ['at >= ?', query.since])
      const text = `select ${POSTGRES.attempt.columns} from attempt where ${where.text}
        order by at desc limit ${place(where.values.length + 1)}`
      return all(text, [...where.values, most(query.limit)], POSTGRES.attempt.decode)
    },
    sumAttempts: async (query) => {
      const { text, values } = callsOf(query)
      const sql = `select ${CALL_SUMS} from (${text}) as calls`
      return (await first(sql, values, decodeSums)) as AttemptSum
    },
    groupAttempts: ({ by, limit, ...query }) => {
      const { text, values } = callsOf(query, by)
      const key = KEYS[by] ?? by
      const sql = `select ${key} as key, ${CALL_SUMS} from (${text}) as calls
        where ${key} is not null group by 1 order by 1 desc limit ${most(limit)}`
      return all(sql, values, (columns) => ({
        ...decodeSums(columns),
        key: fromText(String(columns['key'])),
      }))
    },
    listSchedules: ({ sessionId, state, dueBy, after = '', limit }) => {
      const where = conditionsOf<unknown>(
        [
          ['session = ?', optional(sessionId)],
          onlyState('waiting', state),
          dueBy === undefined ? ['id > ?', toText(after)] : ['due_at <= ?', dueBy],
        ],
        place,
      )
      const text = `select ${POSTGRES.schedule.columns} from schedule where ${where.text}
        order by ${dueBy === undefined ? 'id' : 'due_at, id'} limit ${place(where.values.length + 1)}`
      return whole(POSTGRES.schedule, text, [...where.values, most(limit)])
    },
    findDraft: ({ sessionId, key }) =>
      first(
        `select ${POSTGRES.draft.columns} from draft where session = $1 and key = $2`,
        [toText(sessionId), toText(key)],
        POSTGRES.draft.decode,
      ),
    listNotes: ({ agent, scope, after = '', limit }) => {
      const where = conditionsOf(
        [
          ['agent = ?', toText(agent)],
          ['scope = ?', optional(scope)],
          ['id > ?', toText(after)],
        ],
        place,
      )
      const text = `select ${POSTGRES.note.columns} from note where ${where.text}
        order by id, scope limit ${place(where.values.length + 1)}`
      return whole(POSTGRES.note, text, [...where.values, most(limit)])
    },
    listTokens: () =>
      all(`select ${POSTGRES.token.columns} from token order by id`, [], POSTGRES.token.decode),
    findToken: async ({ hash }) => {
      const text = `select ${POSTGRES.token.columns} from token where hash = $1`
      return (await whole(POSTGRES.token, text, [toBytes(hash)]))[0]
    },
    findBlob: ({ sessionId, hash }) =>
      first(
        `select ${POSTGRES.blob.columns} from lineage($1) as line join blob on session = keeper
         where hash = $2 order by line.last desc limit 1`,
        [toText(sessionId), toBytes(hash)],
        (row) => checkedBlob({ ...POSTGRES.blob.decode(row), sessionId }),
      ),
    search: (query) => inSnapshot(connections, (loan) => searchPostgres(loan, query, cache)),
    readUnembedded: (query) => readUnembedded(connections, query),
    verify: async (query) => {
      await readChained(connections, { text: 'select 1', values: [] })
      return verifyPostgres(connections, query)
    },
  }
}

/** Calls that are listed and, unless turns, steps or hours are needed, the sums of the others. */
function callsOf(query: SumAttempts, by?: AttemptGrouping) {
  const listed = callConditions(query, ['at >= ?', query.since])
  const text = `select *, at / ${DAY_MS} as day, 1 as attempts, (cost is null)::int as unpriced
    from attempt where ${listed.text}`
  if (query.turn !== undefined || by === 'turn' || by === 'step' || by === 'hour') {
    return { text, values: listed.values }
  }
  const summed = callConditions(
    query,
    ['day >= ?', Math.ceil(query.since / DAY_MS)],
    listed.values.length,
  )
  const columns = 'session, agent, day, attempts, input_tokens, output_tokens, cached_tokens, cost'
  return {
    text: `select ${columns}, unpriced from (${text}) as listed
      union all select ${columns}, unpriced from usage where ${summed.text}`,
    values: [...listed.values, ...summed.values],
  }
}

function callConditions(
  query: Omit<SumAttempts, 'limit'>,
  period: readonly [string, number],
  before = 0,
) {
  const { sessionId, modelRoute, agent, turn, task, host, isAuxiliary } = query
  return conditionsOf<unknown>(
    [
      period,
      ['session = ?', optional(sessionId)],
      ['model_route = ?', optional(modelRoute)],
      ['agent = ?', optional(agent)],
      ['turn = ?', turn],
      ['task = ?', optional(task)],
      ['host = ?', optional(host)],
      ...(isAuxiliary ? [["task <> 'turn'"] as const] : []),
    ],
    (nth) => place(before + nth),
  )
}

/** Reads the audit chain after linking all visible rows to it. */
async function readChained(connections: Connections, query: Query): Promise<readonly Columns[]> {
  const loan = await connections.loan()
  try {
    for (;;) {
      const [[chained] = [], rows = []] = await loan.send([CHAIN, query])
      if (chained?.['more'] !== true) return rows
    }
  } finally {
    loan.end()
  }
}
