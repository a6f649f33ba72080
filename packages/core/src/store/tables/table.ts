/**
 * A table as both engines store it: each field of a row with its column and its kind. Each engine
 * has one codec per kind, so a new column needs one line here and one migration per engine.
 */
export interface Table<Row, Written = Row> {
  readonly name: string
  readonly fields: readonly TableField[]
  /** Converts a row to one value per field, and back. */
  flatten(row: Written): Values
  restore(values: Values): Row
}

export interface TableField {
  readonly name: string
  readonly column: string
  readonly kind: Kind
  /** The column is written, but rows that are read lack the field. */
  readonly isWriteOnly: boolean
}

export type Values = Readonly<Record<string, unknown>>

export type Kind =
  | 'text'
  | 'integer'
  | 'flag'
  | 'json'
  /** Hexadecimal digits in a row, bytes in a column. */
  | 'hash'
  | 'hash or null'
  | 'bytes'
  /** The id of the session that a row belongs to. SQLite keeps the session's small number. */
  | 'session'
  /** The number of a row in its session. SQLite packs both into one key. */
  | 'number'

type KindOf<Value> = [Value] extends [boolean]
  ? 'flag'
  : [Value] extends [Uint8Array]
    ? 'bytes'
    : [Value] extends [number]
      ? 'integer' | 'number'
      : [Value] extends [number | null]
        ? 'integer'
        : [Value] extends [string]
          ? 'text' | 'hash' | 'session'
          : [Value] extends [string | null]
            ? 'text' | 'hash or null'
            : 'json'

/** One line per field. A missing field, or one of another kind, does not compile. */
export type Fields<Row, Written> = {
  readonly [Name in keyof Written]-?: Name extends keyof Row
    ? readonly [column: string, kind: KindOf<Written[Name]>]
    : readonly [column: string, kind: KindOf<Written[Name]>, 'write-only']
}

export function table<Row extends object, Written extends Row = Row>(
  name: string,
  fields: Fields<Row, Written>,
): Table<Row, Written> {
  const lines: [string, readonly [string, Kind, 'write-only'?]][] = Object.entries(fields)
  return {
    name,
    fields: lines.map(([field, [column, kind, use]]) => ({
      name: field,
      column,
      kind,
      isWriteOnly: use === 'write-only',
    })),
    flatten: (row) => row as Values,
    restore: (values) => values as Row,
  }
}

/**
 * A row without values, to be copied and filled. V8 keeps a copy of a parsed object as fast as a
 * literal; an object that grows field by field becomes a slow dictionary after about a dozen.
 */
export function blankOf(fields: readonly TableField[]): Values {
  const read = fields.filter(({ isWriteOnly }) => !isWriteOnly)
  return JSON.parse(JSON.stringify(Object.fromEntries(read.map(({ name }) => [name, null]))))
}

/** A table whose rows are shaped differently from its columns. */
export function mapTable<Columns, WrittenColumns, Row, Written>(
  { name, fields, flatten, restore }: Table<Columns, WrittenColumns>,
  toColumns: (row: Written) => WrittenColumns,
  fromColumns: (columns: Columns) => Row,
): Table<Row, Written> {
  return {
    name,
    fields,
    flatten: (row) => flatten(toColumns(row)),
    restore: (values) => fromColumns(restore(values)),
  }
}
