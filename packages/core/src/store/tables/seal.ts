import type { JsonValue } from '../../base/json.ts'
import { canonicalJson, sha256 } from '../integrity/canonical.ts'
import type { Table, Values } from './table.ts'

/**
 * A table whose rows carry a hash of themselves. These rows are not chained, but they decide where
 * messages go, what enters a context and who may read it. A changed row is not used, and `verify`
 * reports it.
 */
export interface SealedTable<Row, Written = Row> extends Table<Row, Written> {
  /** A row of an earlier version has no seal; neither has one whose text was erased. */
  isWhole(values: Values): boolean
}

/** `covers`: the fields that never change, if others do. */
export function sealed<Row, Written>(
  inner: Table<Row, Written>,
  covers: readonly string[] = inner.fields.map(({ name }) => name),
): SealedTable<Row, Written> {
  const sealOf = (values: Values): string | null => {
    // Without its text a row has no seal: the text could be guessed from it.
    if (values['body'] === null) return null
    const covered = covers.map((name) => (values[name] ?? null) as JsonValue)
    return sha256(canonicalJson([inner.name, ...covered]))
  }
  return {
    ...inner,
    fields: [
      ...inner.fields,
      { name: 'seal', column: 'seal', kind: 'hash or null', isWriteOnly: false },
    ],
    flatten: (row) => {
      const values = inner.flatten(row)
      return { ...values, seal: sealOf(values) }
    },
    restore: ({ seal: _, ...values }) => inner.restore(values),
    isWhole: (values) => values['seal'] === null || values['seal'] === sealOf(values),
  }
}
