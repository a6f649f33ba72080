import type { SessionId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import { DamagedRowError } from '../errors.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import { orUnreadable, parseColumn } from '../integrity/damaged-row.ts'
import { isSealed, OF_NO_ROW } from '../tables/seal.ts'
import { blankOf, type Kind, type Table, type TableField, type Values } from '../tables/table.ts'
import {
  ATTEMPT,
  AUDIT,
  BLOB,
  DRAFT,
  EMBEDDED,
  ENTRY,
  INTAKE,
  MAIL,
  NOTE,
  OPERATION,
  REPLY,
  ROUTE,
  RUNNER,
  SCHEDULE,
  SENDER,
  SESSION,
  TOKEN,
  USAGE,
  VECTOR,
} from '../tables/tables.ts'
import type { SqliteColumns as Columns, SqliteConnection, Value } from './connection.ts'

const NUMBER_BITS = 31n

export function packed(n: number, number: number): bigint {
  return (BigInt(n) << NUMBER_BITS) | BigInt(number)
}

export function unpacked(id: Value | undefined): number {
  return Number(BigInt(id as number) & ((1n << NUMBER_BITS) - 1n))
}

export function sessionOf(id: Value | undefined): number {
  return Number(BigInt(id as number) >> NUMBER_BITS)
}

export function hashBytes(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex')
}

export function hashText(value: Value | undefined): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  throw new DamagedRowError({ row: 'a value that was read', problem: 'has no hash' })
}

/** Looks up the small number that stands for a session in keys. */
interface SessionKeys {
  get(id: SessionId): number
}

interface SqliteTable<Row, Written, Session extends readonly SessionId[] = []> {
  readonly columns: readonly string[]
  /** Without a conflict clause; takes the values of `encode`. */
  readonly insert: string
  encode(row: Written, keys: SessionKeys): Value[]
  /** The columns in which two rows differ, and the seal, with the values of the second. */
  changes(
    before: Written,
    after: Written,
    keys: SessionKeys,
  ): { readonly columns: readonly string[]; readonly values: readonly Value[] }
  /**
   * The caller passes the session id where a row names its session: the columns have only its
   * number.
   */
  decode(columns: Columns, ...session: Session): Row
  /** Throws if the row was changed, like `decode`; the columns need not include the bytes of a blob. */
  check(columns: Columns, ...session: Session): void
  /** For `verify`: the row as it is, changed or not. */
  decodeChanged(columns: Columns, ...session: Session): Row
  /** False: the row was changed. True for tables without a seal. */
  isWhole(columns: Columns, ...session: Session): boolean
  /** The seal of a row in which only these fields change. */
  reseal(columns: Columns, change: Values, ...session: Session): Value
}

const ENCODE: Record<Kind, (value: unknown, keys: SessionKeys) => Value> = {
  text: (value) => value as Value,
  integer: (value) => value as Value,
  flag: (value) => (value ? 1 : 0),
  json: (value) => canonicalJson(value as JsonValue),
  hash: (value) => hashBytes(value as string),
  'hash or null': (value) => (value === null ? null : hashBytes(value as string)),
  bytes: (value) => value as Uint8Array,
  session: (value, keys) => keys.get(value as SessionId),
  number: (value) => value as number,
}

type Decode = (columns: Columns, column: string) => unknown
function decoderOf(name: string, kind: Kind): Decode {
  switch (kind) {
    case 'json':
      return (columns, column) => parseColumn(columns[column], column, () => rowName(name, columns))
    case 'hash':
      return (columns, column) => hashText(columns[column])
    case 'hash or null':
      return (columns, column) => (columns[column] == null ? null : hashText(columns[column]))
    case 'flag':
      return (columns, column) => columns[column] === 1
    case 'number':
      return (columns) => unpacked(columns['id'])
    default:
      return (columns, column) => columns[column] ?? null
  }
}

/** Only a session row contains the session's id. */
function rowName(name: string, { id, cursor }: Columns): string {
  if (name !== 'entry' && name !== 'mail') return `${name} ${id ?? `line ${cursor}`}`
  return `${name} ${unpacked(id)} of the session with number ${sessionOf(id)}`
}

function sessionTable<Row, Written>(
  table: Table<Row, Written>,
): SqliteTable<Row, Written, [SessionId]> {
  const { name, fields, flatten, restore } = table
  const isNumbered = fields.some(({ kind }) => kind === 'number')
  const own = isNumbered ? fields.filter(({ kind }) => !isOfKey(kind)) : fields
  const columns = [...(isNumbered ? ['id'] : []), ...own.map(({ column }) => column)]
  const read = fields
    .filter(({ isWriteOnly, kind }) => !isWriteOnly && kind !== 'session')
    .map(({ name: field, column, kind }) => ({ field, column, decode: decoderOf(name, kind) }))
  const ofSession = fields.find(({ isWriteOnly, kind }) => !isWriteOnly && kind === 'session')
  const blank = blankOf(fields)
  const valuesOf = (row: Columns, sessionId: SessionId): Values => {
    const values: Record<string, unknown> = { ...blank }
    if (ofSession !== undefined) values[ofSession.name] = sessionId
    for (const { field, column, decode } of read) values[field] = decode(row, column)
    return values
  }
  const seal = isSealed(table) ? table : null
  const writeOnly = fields
    .filter(({ isWriteOnly }) => isWriteOnly)
    .map(({ name: field, column, kind }) => ({
      field,
      column,
      kind,
      decode: decoderOf(name, kind),
    }))
  const withWriteOnly = (values: Values, row: Columns, sessionId: SessionId): Values => {
    const all: Record<string, unknown> = { ...values }
    for (const { field, column, kind, decode } of writeOnly) {
      all[field] = kind === 'session' ? sessionId : decode(row, column)
    }
    return all
  }
  const allOf = (row: Columns, sessionId: SessionId): Values =>
    withWriteOnly(valuesOf(row, sessionId), row, sessionId)
  const refuseChanged = (values: Values, row: Columns, sessionId: SessionId): void => {
    if (seal?.refuse === undefined) return
    const all = orUnreadable(() => withWriteOnly(values, row, sessionId))
    if (all !== null && orUnreadable(() => seal.isWhole(all)) === true) return
    throw seal.refuse({ ...values, sessionId })
  }
  return {
    columns,
    insert: `insert into ${name} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    encode: (row, keys) => {
      const values = flatten(row)
      const encoded = own.map(({ name: field, kind }) => ENCODE[kind](values[field], keys))
      if (isNumbered) {
        const { sessionId, number } = values
        encoded.unshift(packed(keys.get(sessionId as SessionId), number as number))
      }
      return encoded
    },
    changes: (before, after, keys) => {
      const [old, next] = [(seal?.inner ?? table).flatten(before), flatten(after)]
      const changed = own.flatMap(({ name: field, column, kind }) => {
        if (old[field] === next[field]) return []
        const value = ENCODE[kind](next[field], keys)
        const isSeal = old[field] === undefined
        return !isSeal && isSame(ENCODE[kind](old[field], keys), value) ? [] : [{ column, value }]
      })
      return {
        columns: changed.map(({ column }) => column),
        values: changed.map(({ value }) => value),
      }
    },
    decode: (row, sessionId) => {
      const values = valuesOf(row, sessionId)
      const restored = restore(values)
      refuseChanged(values, row, sessionId)
      return restored
    },
    check: (row, sessionId) => refuseChanged(valuesOf(row, sessionId), row, sessionId),
    decodeChanged: (row, sessionId) => restore(valuesOf(row, sessionId)),
    isWhole: (row, sessionId) =>
      seal === null || orUnreadable(() => seal.isWhole(allOf(row, sessionId))) === true,
    reseal: (row, change, sessionId) => {
      const resealed = seal && orUnreadable(() => seal.reseal(allOf(row, sessionId), change))
      return hashBytes(resealed ?? OF_NO_ROW)
    },
  }
}

function isOfKey(kind: Kind): boolean {
  return kind === 'session' || kind === 'number'
}

function isSame(one: Value, other: Value): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) {
    return Buffer.compare(one, other) === 0
  }
  return one === other
}

const NO_SESSION = '' as SessionId
const needsSession = ({ kind, isWriteOnly }: TableField) => kind === 'session' && !isWriteOnly

function sqliteTable<Row, Written>(table: Table<Row, Written>): SqliteTable<Row, Written> {
  if (table.fields.some(needsSession)) throw new Error(`${table.name} names its session`)
  const { decode, check, decodeChanged, isWhole, reseal, ...rest } = sessionTable(table)
  return {
    ...rest,
    decode: (columns) => decode(columns, NO_SESSION),
    check: (columns) => check(columns, NO_SESSION),
    decodeChanged: (columns) => decodeChanged(columns, NO_SESSION),
    isWhole: (columns) => isWhole(columns, NO_SESSION),
    reseal: (columns, change) => reseal(columns, change, NO_SESSION),
  }
}

/** The tables of `store/tables` as SQLite stores them. */
export const SQLITE = {
  session: sqliteTable(SESSION),
  entry: sqliteTable(ENTRY),
  mail: sessionTable(MAIL),
  intake: sessionTable(INTAKE),
  sender: sessionTable(SENDER),
  operation: sessionTable(OPERATION),
  reply: sessionTable(REPLY),
  route: sessionTable(ROUTE),
  runner: sqliteTable(RUNNER),
  blob: sessionTable(BLOB),
  audit: sqliteTable(AUDIT),
  attempt: sqliteTable(ATTEMPT),
  usage: sqliteTable(USAGE),
  schedule: sqliteTable(SCHEDULE),
  note: sqliteTable(NOTE),
  draft: sqliteTable(DRAFT),
  token: sqliteTable(TOKEN),
  embedded: sessionTable(EMBEDDED),
  vector: sqliteTable(VECTOR),
}

/** The columns of an entry that survive erasure; read alone if bodies are not needed. */
export const SQLITE_HEAD_COLUMNS = SQLITE.entry.columns
  .filter((column) => column !== 'body' && column !== 'salt')
  .join(', ')

/** A blob without its bytes. */
export const BLOB_HEAD = SQLITE.blob.columns.filter((column) => column !== 'bytes').join(', ')

export function findBlobHead(db: SqliteConnection, n: number, hash: string): Columns | undefined {
  const sql = `select ${BLOB_HEAD} from blob where session = ? and hash = ?`
  return db.get(sql, n, hashBytes(hash))
}
