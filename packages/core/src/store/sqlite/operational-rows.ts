import { DAY_MS } from '../../base/clock.ts'
import { LIST_MAX } from '../bounds.ts'
import { conditionsOf } from '../conditions.ts'
import type { Readers } from '../facade.ts'
import type {
  AttemptGrouping,
  AttemptSum,
  NoteKey,
  NoteRow,
  ScheduleRow,
  SumAttempts,
  TokenRow,
} from '../operational-rows.ts'
import type { StoreChange } from '../rules/ruling.ts'
import type { SqliteConnection, Value } from './connection.ts'
import type { SessionNumbers } from './sessions.ts'
import { hashBytes, SQLITE } from './tables.ts'

/**
 * The tables beside transcripts and mailboxes: schedules, notes, drafts, access tokens. Reads leave out
 * changed rows: such a note enters no context, such a schedule does not fire, such a token opens nothing.
 */
const { schedule, note, draft, token } = SQLITE
const PUT_SCHEDULE = schedule.insert.replace('insert', 'insert or replace')
const PUT_NOTE = note.insert.replace('insert', 'insert or replace')
const PUT_DRAFT = draft.insert.replace('insert', 'insert or replace')

export function findScheduleRow(db: SqliteConnection, id: string): ScheduleRow | undefined {
  const row = db.get('select * from schedule where id = ?', id)
  return row && schedule.decode(row)
}

export function findNote(db: SqliteConnection, { agent, scope, id }: NoteKey): NoteRow | undefined {
  const sql = 'select * from note where agent = ? and scope = ? and id = ?'
  const row = db.get(sql, agent, scope, id)
  return row && note.decode(row)
}

export function findToken(
  db: SqliteConnection,
  column: 'id' | 'hash',
  value: Value,
): TokenRow | undefined {
  const row = db.get(`select * from token where ${column} = ?`, value)
  return row && token.decode(row)
}

export function writeOperationalRows(
  db: SqliteConnection,
  numbers: SessionNumbers,
  change: StoreChange,
): void {
  for (const { after } of change.schedules ?? []) {
    db.run(PUT_SCHEDULE, ...schedule.encode(after, numbers))
  }
  for (const id of change.schedulesRemoved ?? []) db.run('delete from schedule where id = ?', id)
  for (const { after } of change.notes ?? []) db.run(PUT_NOTE, ...note.encode(after, numbers))
  for (const { agent, scope, id } of change.notesRemoved ?? []) {
    db.run('delete from note where agent = ? and scope = ? and id = ?', agent, scope, id)
  }
  for (const row of change.tokens ?? []) db.run(token.insert, ...token.encode(row, numbers))
  for (const row of change.drafts ?? []) {
    if (row.ids.length > 0) db.run(PUT_DRAFT, ...draft.encode(row, numbers))
    else db.run('delete from draft where session = ? and key = ?', row.sessionId, row.key)
  }
  if (change.draftsRemoved !== undefined) {
    db.run('delete from draft where session = ?', change.draftsRemoved)
  }
  for (const id of change.tokensRemoved ?? []) db.run('delete from token where id = ?', id)
}

type OperationalVerb =
  | 'readAttempts'
  | 'sumAttempts'
  | 'groupAttempts'
  | 'listSchedules'
  | 'listNotes'
  | 'listTokens'
  | 'findToken'
  | 'findDraft'

export function operationalReads(db: SqliteConnection): Pick<Readers, OperationalVerb> {
  return {
    readAttempts: ({ sessionId, modelRoute, task, since, limit }) => {
      const where = conditionsOf<Value>([
        ['at >= ?', since],
        ['session = ?', sessionId],
        ['model_route = ?', modelRoute],
        ['task = ?', task],
      ])
      const sql = `select * from attempt where ${where.text} order by at desc limit ?`
      return db.all(sql, ...where.values, Math.min(limit, LIST_MAX)).map(SQLITE.attempt.decode)
    },
    sumAttempts: (query) => {
      const { text, values } = callsOf(query)
      return { ...db.get(`select ${SUMS} from (${text})`, ...values) } as unknown as AttemptSum
    },
    groupAttempts: ({ by, limit, ...query }) => {
      const { text, values } = callsOf(query, by)
      const key = KEYS[by] ?? by
      const sql = `select ${key} as key, ${SUMS} from (${text})
        where ${key} is not null group by 1 order by 1 desc limit ?`
      const rows = db.all(sql, ...values, Math.min(limit, LIST_MAX))
      return rows.map((row) => ({ ...(row as unknown as AttemptSum), key: String(row['key']) }))
    },
    listSchedules: ({ sessionId, state, dueBy, after = '', limit }) => {
      const where = conditionsOf<Value>([
        ['session = ?', sessionId],
        // A literal, because SQLite does not match a partial index with a parameter.
        state === 'waiting' ? ["state = 'waiting'"] : ['state = ?', state],
        dueBy === undefined ? ['id > ?', after] : ['due_at <= ?', dueBy],
      ])
      const sql = `select * from schedule where ${where.text}
        order by ${dueBy === undefined ? 'id' : 'due_at, id'} limit ?`
      const rows = db.all(sql, ...where.values, Math.min(limit, LIST_MAX))
      return rows.filter(schedule.isWhole).map(schedule.decode)
    },
    listNotes: ({ agent, scope, after = '', limit }) => {
      const within = scope === undefined ? '' : 'and scope = ?'
      const sql = `select * from note where agent = ? and id > ? ${within} order by id, scope limit ?`
      const asked = [agent, after, ...(scope === undefined ? [] : [scope])]
      return db
        .all(sql, ...asked, Math.min(limit, LIST_MAX))
        .filter(note.isWhole)
        .map(note.decode)
    },
    listTokens: () => db.all('select * from token order by id').map(token.decode),
    findToken: ({ hash }) => {
      const row = db.get('select * from token where hash = ?', hashBytes(hash))
      return row && token.isWhole(row) ? token.decode(row) : undefined
    },
    findDraft: ({ sessionId, key }) => {
      const row = db.get('select * from draft where session = ? and key = ?', sessionId, key)
      return row && draft.decode(row)
    },
  }
}

/** The keys that are no column. */
const KEYS: Readonly<Partial<Record<AttemptGrouping, string>>> = {
  day: "strftime('%Y-%m-%d', day * 86400, 'unixepoch')",
  hour: "strftime('%Y-%m-%dT%H', at / 1000, 'unixepoch')",
}

const SUMS = `coalesce(sum(attempts), 0) as attempts, coalesce(sum(input_tokens), 0) as inputTokens,
  coalesce(sum(output_tokens), 0) as outputTokens, coalesce(sum(cached_tokens), 0) as cachedTokens,
  coalesce(sum(cost), 0) as cost, coalesce(sum(unpriced), 0) as unpriced`

/** Calls that are listed and, unless turns, steps or hours are needed, the sums of the others. */
function callsOf(query: SumAttempts, by?: AttemptGrouping) {
  const listed = callConditions(query, ['at >= ?', query.since])
  const text = `select *, at / ${DAY_MS} as day, 1 as attempts, cost is null as unpriced
    from attempt where ${listed.text}`
  if (query.turn !== undefined || by === 'turn' || by === 'step' || by === 'hour') {
    return { text, values: listed.values }
  }
  const summed = callConditions(query, ['day >= ?', Math.ceil(query.since / DAY_MS)])
  const columns = 'session, agent, day, attempts, input_tokens, output_tokens, cached_tokens, cost'
  return {
    text: `select ${columns}, unpriced from (${text})
      union all select ${columns}, unpriced from usage where ${summed.text}`,
    values: [...listed.values, ...summed.values],
  }
}

function callConditions(query: SumAttempts, period: readonly [string, number]) {
  const { sessionId, modelRoute, agent, turn, task, host, isAuxiliary } = query
  return conditionsOf<Value>([
    period,
    ['session = ?', sessionId],
    ['model_route = ?', modelRoute],
    ['agent = ?', agent],
    ['turn = ?', turn],
    ['task = ?', task],
    ['host = ?', host],
    ...(isAuxiliary ? [["task <> 'turn'"] as const] : []),
  ])
}
