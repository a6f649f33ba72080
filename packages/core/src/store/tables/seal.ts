import type { JsonValue } from '../../base/json.ts'
import type { DamagedRowError } from '../errors.ts'
import { canonicalJson, sha256 } from '../integrity/canonical.ts'
import type { Table, TableField, Values } from './table.ts'

/**
 * A table whose rows carry a hash of themselves. These rows are not chained, but they decide what
 * runs, where messages go, what enters a context and who may read it. A changed row is not used, and
 * `verify` reports it. The hash finds damage and careless changes, not a forger who computes it again.
 */
export interface SealedTable<Row, Written = Row> extends Table<Row, Written> {
  /** The table without its seal. */
  readonly inner: Table<Row, Written>
  /** The error for a changed row, which is never returned. Absent: each read decides. */
  readonly refuse?: Refuse
  /** A row of an earlier version has no seal. `values` has all fields, written-only ones too. */
  isWhole(values: Values): boolean
  /** The seal of a row after a change to some of its fields. A damaged row stays damaged. */
  reseal(values: Values, change: Values): string
}

export type Refuse = (values: Values) => DamagedRowError

interface SealOptions {
  /** Fields that change on their own, or have a hash of their own. */
  readonly except?: readonly string[]
  readonly refuse?: Refuse
}

const SEAL: TableField = { name: 'seal', column: 'seal', kind: 'hash or null', isWriteOnly: true }
/** No row has this hash. */
export const OF_NO_ROW = '0'.repeat(64)

export function sealed<Row, Written>(
  inner: Table<Row, Written>,
  { except = [], refuse }: SealOptions = {},
): SealedTable<Row, Written> {
  const covers = inner.fields.map(({ name }) => name).filter((name) => !except.includes(name))
  const sealOf = (values: Values): string => {
    const covered = covers.map((name) => (values[name] ?? null) as JsonValue)
    return sha256(canonicalJson([inner.name, ...covered]))
  }
  const isWhole = (values: Values) =>
    (values['seal'] ?? null) === null || values['seal'] === sealOf(values)
  return {
    ...inner,
    inner,
    ...(refuse !== undefined && { refuse }),
    fields: [...inner.fields, SEAL],
    flatten: (row) => {
      const values = inner.flatten(row)
      return { ...values, seal: sealOf(values) }
    },
    isWhole,
    reseal: (values, change) => (isWhole(values) ? sealOf({ ...values, ...change }) : OF_NO_ROW),
  }
}

export function isSealed<Row, Written>(
  table: Table<Row, Written>,
): table is SealedTable<Row, Written> {
  return 'isWhole' in table
}
