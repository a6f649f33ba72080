import type { JsonValue } from '../../base/json.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import { damagedRoute, orUnreadable, parseColumn } from '../integrity/damaged-row.ts'
import type { AuditDraft } from '../rules/ruling.ts'
import type { AuditRow, ReplyRow, RouteRow } from '../tables/rows.ts'
import { isSealed, OF_NO_ROW } from '../tables/seal.ts'
import { blankOf, type Kind, type Table, type TableField, type Values } from '../tables/table.ts'
import {
  ATTEMPT,
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

export type Columns = Readonly<Record<string, unknown>>

/** Rows travel to the server as JSON, many in one parameter. */
export interface PostgresTable<Row, Written = Row> {
  /** Comma-separated, in a fixed order, for a select or an insert. */
  readonly columns: string
  encode(row: Written): Columns
  decode(columns: Columns): Row
  /** Throws if the row was changed, like `decode`; the columns need not include the bytes of a blob. */
  check(columns: Columns): void
  /** For `verify`: the row as it is, changed or not. */
  decodeChanged(columns: Columns): Row
  /** False: the row was changed. True for tables without a seal. */
  isWhole(columns: Columns): boolean
  /** The seal of a row in which only these fields change. */
  reseal(columns: Columns, change: Values): unknown
}

export function prefixed(columns: string, table: string): string {
  return columns.replace(/(?<=^|, )(?!null)/g, `${table}.`)
}

/**
 * PostgreSQL text cannot contain NUL. It is written as two characters, which are escaped in turn.
 */
export function toText(text: string): string {
  const formed = text.toWellFormed()
  if (!formed.includes('\0') && !formed.includes('\u0001')) return formed
  return formed.replaceAll('\u0001', '\u0001.').replaceAll('\0', '\u0001,')
}

export function fromText(text: string): string {
  if (!text.includes('\u0001')) return text
  return text.replaceAll('\u0001,', '\0').replaceAll('\u0001.', '\u0001')
}

/** An invalid hash becomes one that no row has. */
export function toBytes(hex: string): string {
  return `\\x${/^(?:[0-9a-f]{2})*$/.test(hex) ? hex : ''}`
}

const ENCODE: Record<Kind, (value: unknown) => unknown> = {
  text: (value) => (value === null ? null : toText(value as string)),
  integer: (value) => value,
  flag: (value) => value,
  json: (value) => canonicalJson(value as JsonValue),
  hash: (value) => toBytes(value as string),
  'hash or null': (value) => (value === null ? null : toBytes(value as string)),
  bytes: (value) => Buffer.from(value as Uint8Array),
  session: (value) => toText(value as string),
  number: (value) => value,
}
const DECODE: Record<Exclude<Kind, 'json'>, (value: unknown) => unknown> = {
  text: (value) => (value === null ? null : fromText(value as string)),
  integer: (value) => value,
  flag: (value) => value,
  hash: (value) => (value as Buffer).toString('hex'),
  'hash or null': (value) => (value === null ? null : (value as Buffer).toString('hex')),
  bytes: (value) => new Uint8Array(value as Buffer),
  session: (value) => fromText(value as string),
  number: (value) => value,
}

function postgresTable<Row, Written>(table: Table<Row, Written>): PostgresTable<Row, Written> {
  const { name, fields, flatten, restore } = table
  const read = fields.filter(({ isWriteOnly }) => !isWriteOnly)
  const blank = blankOf(fields)
  const decodeFields = (of: readonly TableField[], columns: Columns, into: Values): Values => {
    const values: Record<string, unknown> = { ...into }
    for (const { name: field, column, kind } of of) {
      const value = columns[column] ?? null
      values[field] =
        kind === 'json'
          ? parseColumn(value, column, () => rowName(name, columns))
          : DECODE[kind](value)
    }
    return values
  }
  const valuesOf = (columns: Columns) => decodeFields(read, columns, blank)
  const seal = isSealed(table) ? table : null
  const writeOnly = fields.filter(({ isWriteOnly }) => isWriteOnly)
  const allOf = (columns: Columns) => decodeFields(writeOnly, columns, valuesOf(columns))
  const refuseChanged = (values: Values, columns: Columns): void => {
    if (seal?.refuse === undefined) return
    const all = orUnreadable(() => decodeFields(writeOnly, columns, values))
    if (all !== null && orUnreadable(() => seal.isWhole(all)) === true) return
    throw seal.refuse({ ...values, ...all })
  }
  return {
    columns: fields.map(({ column }) => column).join(', '),
    encode: (row) => {
      const values = flatten(row)
      return Object.fromEntries(
        fields.map(({ name: field, column, kind }) => [column, ENCODE[kind](values[field])]),
      )
    },
    decode: (columns) => {
      const values = valuesOf(columns)
      const restored = restore(values)
      refuseChanged(values, columns)
      return restored
    },
    check: (columns) => refuseChanged(valuesOf(columns), columns),
    decodeChanged: (columns) => restore(valuesOf(columns)),
    isWhole: (columns) =>
      seal === null || orUnreadable(() => seal.isWhole(allOf(columns))) === true,
    reseal: (columns, change) => {
      const resealed = seal && orUnreadable(() => seal.reseal(allOf(columns), change))
      return toBytes(resealed ?? OF_NO_ROW)
    },
  }
}

function rowName(name: string, { id, session, number }: Columns): string {
  return number === undefined ? `${name} ${id}` : `${name} ${number} of session ${session}`
}

/** The tables of `store/tables` as PostgreSQL stores them. The audit is below. */
export const POSTGRES = {
  session: postgresTable(SESSION),
  entry: postgresTable(ENTRY),
  mail: postgresTable(MAIL),
  intake: postgresTable(INTAKE),
  sender: postgresTable(SENDER),
  operation: postgresTable(OPERATION),
  reply: postgresTable(REPLY),
  route: postgresTable(ROUTE),
  runner: postgresTable(RUNNER),
  blob: postgresTable(BLOB),
  attempt: postgresTable(ATTEMPT),
  usage: postgresTable(USAGE),
  schedule: postgresTable(SCHEDULE),
  note: postgresTable(NOTE),
  draft: postgresTable(DRAFT),
  token: postgresTable(TOKEN),
  embedded: postgresTable(EMBEDDED),
  vector: postgresTable(VECTOR),
}

/** The columns of an entry that survive erasure; read alone if bodies are not needed. */
export const POSTGRES_HEAD_COLUMNS = POSTGRES.entry.columns.replace(
  'body, salt',
  'null as body, null as salt',
)

/** A blob without its bytes. */
export const SEALED_BLOB = POSTGRES.blob.columns.replace(', bytes', '')

export function decodeNextReply(columns: Columns): ReplyRow & { readonly isChanged?: true } {
  const reply = POSTGRES.reply.decode(columns)
  return POSTGRES.reply.isWhole(columns) ? reply : { ...reply, isChanged: true }
}

export function decodeRoute(columns: Columns): RouteRow {
  const route = POSTGRES.route.decode(columns)
  if (!POSTGRES.route.isWhole(columns)) throw damagedRoute(route)
  return route
}

/**
 * The line is the text that the chain hashes after the previous hash and the number, stored as it
 * was hashed; the other columns are for lookups.
 */
export function encodeAudit(draft: AuditDraft, at: number): Columns {
  const { sessionId, kind, operation, phase, facts } = draft
  return {
    session: toText(sessionId),
    operation: operation === null ? null : toText(operation),
    phase,
    line: canonicalJson([at, sessionId, kind, operation, phase, facts]).slice(1),
  }
}

type Line = readonly [
  at: AuditRow['at'],
  sessionId: AuditRow['sessionId'],
  kind: AuditRow['kind'],
  operation: AuditRow['operation'],
  phase: AuditRow['phase'],
  facts: AuditRow['facts'],
]
export const AUDIT_COLUMNS = 'cursor, line, hash'
export function decodeAudit(columns: Columns): AuditRow {
  const cursor = columns['cursor'] as number
  const line = parseColumn(`[${columns['line']}`, 'line', () => `audit ${cursor}`)
  const [at, sessionId, kind, operation, phase, facts] = line as Line
  const hash = (columns['hash'] as Buffer).toString('hex')
  return { cursor, at, sessionId, kind, operation, phase, facts, hash }
}
