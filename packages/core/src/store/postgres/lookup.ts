import { type Columns, fromText, toBytes, toText } from './tables.ts'

/** How one kind of row is found: many of it in one statement, each under what was asked for. */
export interface Lookup {
  readonly text: string
  /** From the arguments of all that were asked for to the parameters of one statement. */
  readonly values: (asked: readonly Args[]) => readonly unknown[]
  /** The arguments under which a found row is asked for. */
  readonly keyOf: (row: Columns) => Args
  readonly decode: (rows: readonly Columns[]) => unknown
  /** Prefetched for another lookup, which then finds the row under its own key. */
  readonly serves?: string
  /** Locks sessions: what was read before it may be old by now. */
  readonly guards?: true
}

export type Args = readonly (string | number)[]

/** For `values`: the same argument of all that were asked for. */
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
