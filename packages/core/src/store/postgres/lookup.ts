import type { SendQueries } from './erasures/records.ts'
import { type Columns, fromText, toBytes, toText } from './tables.ts'

/** How to find one kind of row, each under the arguments it was requested with. */
export interface Lookup {
  readonly text: string
  /** One statement serves one request, because its parameters are single values. */
  readonly isSingle?: true
  /** Turns the arguments of all requests of a statement into its parameters. */
  readonly values: (asked: readonly Args[]) => readonly unknown[]
  /** The arguments that request a found row. */
  readonly keyOf: (row: Columns) => Args
  /** Returns the rows to use, or throws; a later statement, so it sees what the lock waited for. */
  readonly check?: (send: SendQueries, rows: readonly Columns[]) => Promise<readonly Columns[]>
  readonly decode: (rows: readonly Columns[]) => unknown
  /** Prefetched on behalf of another lookup, which then finds the row under its own key. */
  readonly serves?: string
  /** Locks sessions: rows that were read before the lock may be outdated. */
  readonly guards?: true
}

export type Args = readonly (string | number)[]

/** For `values`: one argument of every request. */
export const textArgs = (asked: readonly Args[], index: number) =>
  asked.map((args) => toText(String(args[index])))
export const numberArgs = (asked: readonly Args[], index: number) =>
  asked.map((args) => args[index])
export const hashArgs = (asked: readonly Args[], index: number) =>
  asked.map((args) => toBytes(String(args[index])))

/** For `keyOf`. */
export const column = (name: string) => (row: Columns) => [fromText(row[name] as string)]
export const sessionAnd = (name: string) => (row: Columns) => [
  row['session'] as string,
  row[name] as number,
]

/** For `decode`. */
export const one = (decode: (row: Columns) => unknown) => (rows: readonly Columns[]) =>
  rows[0] && decode(rows[0])
export const many = (decode: (row: Columns) => unknown) => (rows: readonly Columns[]) =>
  rows.map(decode)
export const count = (rows: readonly Columns[]) => rows[0]?.['count'] ?? 0
export const noteKey = ({ agent, scope, id }: Columns) => ({
  agent: fromText(agent as string),
  scope: fromText(scope as string),
  id,
})

/** For the addresses of routes. */
export const ASKED_ROUTES =
  'unnest($1::text[], $2::text[], $3::text[]) as asked (agent, channel, address)'
export const routeValues = (asked: readonly Args[]) => [
  textArgs(asked, 0),
  textArgs(asked, 1),
  textArgs(asked, 2),
]
export const routeKey = (row: Columns) =>
  ['agent', 'channel', 'address'].map((name) => fromText(row[name] as string))
