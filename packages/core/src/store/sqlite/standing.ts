import { LIST_MAX } from '../bounds.ts'
import type { Readers } from '../facade.ts'
import type {
  AttemptSum,
  DraftRow,
  NoteKey,
  NoteRow,
  ScheduleRow,
  SumAttempts,
  TokenRow,
} from '../operational-rows.ts'
import type { Change } from '../rules/ruling.ts'
import { bytes } from './codec.ts'
import type { Connection, Record_ as Row, Value } from './connection.ts'

/** The tables beside transcripts and mailboxes: schedules, notes, access tokens. */
function decodeSchedule(row: Row): ScheduleRow {
  return {
    id: row['id'] as never,
    sessionId: row['session'] as never,
    dueAt: row['due_at'] as never,
    repeat: row['repeat'] as never,
    body: row['body'] as never,
    tokens: row['tokens'] as never,
    state: row['state'] as never,
    fired: row['fired'] as never,
    firedAt: row['fired_at'] as never,
    at: row['at'] as never,
  }
}

function decodeNote(row: Row): NoteRow {
  const { agent, scope, id, text, origin_session: sessionId, origin_entry: number, at } = row
  return {
    agent: agent as never,
    scope: scope as never,
    id: id as never,
    text: text as never,
    origin: sessionId === null ? null : { sessionId: sessionId as never, number: number as never },
    at: at as never,
  }
}

function decodeDraft(row: Row): DraftRow {
  return {
    sessionId: row['session'] as never,
    key: row['key'] as never,
    ids: JSON.parse(row['ids'] as string) as never,
    at: row['at'] as never,
  }
}

function decodeToken(row: Row): TokenRow {
  return {
    id: row['id'] as never,
    hash: Buffer.from(row['hash'] as Uint8Array).toString('hex'),
    principal: row['principal'] as never,
    scopes: JSON.parse(row['scopes'] as string) as never,
    label: row['label'] as never,
    createdAt: row['created_at'] as never,
    expiresAt: row['expires_at'] as never,
  }
}

export function findSchedule(db: Connection, id: string): ScheduleRow | undefined {
  const row = db.get('select * from schedule where id = ?', id)
  return row && decodeSchedule(row)
}

export function findNote(db: Connection, { agent, scope, id }: NoteKey): NoteRow | undefined {
  const sql = 'select * from note where agent = ? and scope = ? and id = ?'
  const row = db.get(sql, agent, scope, id)
  return row && decodeNote(row)
}

export function findToken(
  db: Connection,
  column: 'id' | 'hash',
  value: Value,
): TokenRow | undefined {
  const row = db.get(`select * from token where ${column} = ?`, value)
  return row && decodeToken(row)
}

export function writeStanding(db: Connection, change: Change): void {
  for (const { after } of change.schedules ?? []) {
    const { id, sessionId, dueAt, repeat, body, tokens, state, fired, firedAt, at } = after
    db.run(
      `insert or replace into schedule (id, session, due_at, repeat, body, tokens, state, fired,
         fired_at, at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, sessionId, dueAt, repeat, body, tokens, state, fired, firedAt, at],
    )
  }
  for (const id of change.schedulesRemoved ?? []) db.run('delete from schedule where id = ?', id)
  for (const { after } of change.notes ?? []) {
    const { agent, scope, id, text, origin, at } = after
    db.run(
      `insert or replace into note (agent, scope, id, text, origin_session, origin_entry, at)
       values (?, ?, ?, ?, ?, ?, ?)`,
      ...[agent, scope, id, text, origin?.sessionId ?? null, origin?.number ?? null, at],
    )
  }
  for (const { agent, scope, id } of change.notesRemoved ?? []) {
    db.run('delete from note where agent = ? and scope = ? and id = ?', agent, scope, id)
  }
  for (const { id, hash, principal, scopes, label, createdAt, expiresAt } of change.tokens ?? []) {
    db.run(
      `insert into token (id, hash, principal, scopes, label, created_at, expires_at)
       values (?, ?, ?, ?, ?, ?, ?)`,
      ...[id, bytes(hash), principal, JSON.stringify(scopes), label, createdAt, expiresAt],
    )
  }
  for (const { sessionId, key, ids, at } of change.drafts ?? []) {
    if (ids.length === 0) {
      db.run('delete from draft where session = ? and key = ?', sessionId, key)
      continue
    }
    db.run(
      'insert or replace into draft (session, key, ids, at) values (?, ?, ?, ?)',
      ...[sessionId, key, JSON.stringify(ids), at],
    )
  }
  if (change.draftsRemoved !== undefined) {
    db.run('delete from draft where session = ?', change.draftsRemoved)
  }
  for (const id of change.tokensRemoved ?? []) db.run('delete from token where id = ?', id)
}

type StandingVerb =
  | 'sumAttempts'
  | 'listSchedules'
  | 'listNotes'
  | 'listTokens'
  | 'findToken'
  | 'findDraft'

export function standingReads(db: Connection): Pick<Readers, StandingVerb> {
  return {
    sumAttempts: (query) => {
      const { names, values } = attemptConditions(query)
      const where = ['at >= ?', ...names.map((name) => `${name} = ?`)].join(' and ')
      const row = db.get(`select ${ATTEMPT_SUMS} from attempt where ${where}`, ...values)
      return { ...row } as unknown as AttemptSum
    },
    listSchedules: ({ sessionId, state, dueBy, after = '', limit }) => {
      const conditions: readonly (readonly [string, Value | undefined])[] = [
        ['session = ?', sessionId],
        ['state = ?', state],
        dueBy === undefined ? ['id > ?', after] : ['due_at <= ?', dueBy],
      ]
      const given = conditions.filter(([, value]) => value !== undefined)
      return db
        .all(
          `select * from schedule where ${given.map(([text]) => text).join(' and ')}
           order by ${dueBy === undefined ? 'id' : 'due_at, id'} limit ?`,
          ...given.map(([, value]) => value as Value),
          Math.min(limit, LIST_MAX),
        )
        .map(decodeSchedule)
    },
    listNotes: ({ agent, scope, after = '', limit }) => {
      const within = scope === undefined ? '' : 'and scope = ?'
      const sql = `select * from note where agent = ? and id > ? ${within} order by id, scope limit ?`
      const asked = [agent, after, ...(scope === undefined ? [] : [scope])]
      return db.all(sql, ...asked, Math.min(limit, LIST_MAX)).map(decodeNote)
    },
    listTokens: () => db.all('select * from token order by id').map(decodeToken),
    findToken: ({ hash }) => findToken(db, 'hash', bytes(hash)),
    findDraft: ({ sessionId, key }) => {
      const row = db.get('select * from draft where session = ? and key = ?', sessionId, key)
      return row && decodeDraft(row)
    },
  }
}

const ATTEMPT_SUMS = `count(*) as attempts, coalesce(sum(input_tokens), 0) as inputTokens,
  coalesce(sum(output_tokens), 0) as outputTokens, coalesce(sum(cached_tokens), 0) as cachedTokens,
  coalesce(sum(cost), 0) as cost, count(*) - count(cost) as unpriced`

/** Only what was asked for is a condition, so that the index for it is used. */
function attemptConditions({ sessionId, modelRoute, task, host, since }: SumAttempts): {
  readonly names: readonly string[]
  readonly values: readonly Value[]
} {
  const asked = Object.entries({ session: sessionId, model_route: modelRoute, task, host })
  const given = asked.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
  return {
    names: given.map(({ name }) => name),
    values: [since, ...given.map(({ value }) => value)],
  }
}
