import { NOT_AS_WRITTEN } from '../integrity/damaged-row.ts'
import type { StoreFinding } from '../queries.ts'

/** Tables whose rows carry a hash of themselves, and the columns of their keys. */
export const SEALED_KEYS = {
  route: ['agent', 'channel', 'address'],
  note: ['agent', 'scope', 'id'],
  schedule: ['id'],
  token: ['id'],
} as const

export function changedRow(table: string, key: readonly unknown[]): StoreFinding {
  const what = table === 'schedule' ? 'reminder' : table
  return { sessionId: null, entry: null, problem: `${what} ${key.join(' ')} ${NOT_AS_WRITTEN}` }
}
