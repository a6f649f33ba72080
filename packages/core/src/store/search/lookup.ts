import type { DamagedRowError } from '../errors.ts'
import type { Entry } from '../tables/rows.ts'
import type { Block } from './blocks.ts'
import type { IndexState } from './index-state.ts'
import type { SearchedStretch } from './parts.ts'

/**
 * A search's queries to an engine, batched because each query to a server is a round trip. Sessions
 * are identified by their index in the searched list.
 */
export type IndexLookup =
  /** For each key: of every run, the page that would contain it, if it exists. */
  | { readonly want: 'pages'; readonly keys: readonly Uint8Array[] }
  /** For each range: of every run, all pages that may contain keys of it. */
  | { readonly want: 'range'; readonly ranges: readonly KeyRange[] }
  /** Sessions by their numbers; those that may be searched are added to the searched list. */
  | { readonly want: 'sessions'; readonly numbers: readonly number[] }
  /** The blocks of each session in order, from this number on. */
  | { readonly want: 'blocks'; readonly sessions: readonly number[]; readonly from: number }
  | { readonly want: 'entries'; readonly ranges: readonly EntryRange[] }
  /** Only to compare texts: nothing is checked for damage, and nothing is to be shown. */
  | { readonly want: 'bodies'; readonly of: readonly EntryPosition[] }
  /** The vectors of each session that this model has made. */
  | {
      readonly want: 'vectors'
      readonly of: readonly number[]
      readonly model: string
      readonly dimension: number
    }

export interface KeyRange {
  readonly from: Uint8Array
  /** Exclusive. */
  readonly to: Uint8Array
}

/** What to search, and how far it is indexed. */
export interface Searched extends SearchedStretch {
  /** The number of the session that stores it, by which the index knows it. */
  readonly n: number
  readonly index: IndexState
}

export interface EntryRange {
  readonly session: number
  readonly from: number
  readonly to: number
}

export interface EntryPosition {
  readonly session: number
  readonly number: number
}

/** An entry that is embedded, and the vectors of its passages. */
export interface EmbeddedEntry {
  readonly number: number
  readonly bytes: Uint8Array
}

/** `upto`: how far the session is embedded. */
export interface EmbeddedEntries {
  readonly upto: number
  readonly entries: readonly EmbeddedEntry[]
}

/** One for each key, range, session or entry, in the order of the query. */
export interface Answers {
  pages: readonly (readonly Uint8Array[])[]
  range: readonly (readonly Uint8Array[])[]
  sessions: readonly Searched[]
  blocks: readonly (readonly Block[])[]
  entries: readonly (readonly Entry[] | DamagedRowError)[]
  bodies: readonly (string | null)[]
  vectors: readonly EmbeddedEntries[]
}

export type SearchSteps<Result> = Generator<IndexLookup, Result, Answers[keyof Answers]>

export function* lookUp<Want extends IndexLookup['want']>(
  lookup: IndexLookup & { readonly want: Want },
): Generator<IndexLookup, Answers[Want], Answers[keyof Answers]> {
  return (yield lookup) as Answers[Want]
}

/** For synchronous engines. */
export function perform<Result>(
  search: SearchSteps<Result>,
  answer: (lookup: IndexLookup) => Answers[keyof Answers],
): Result {
  let step = search.next()
  while (step.done !== true) step = search.next(answer(step.value))
  return step.value
}

/** For asynchronous engines. */
export async function performAsync<Result>(
  search: SearchSteps<Result>,
  answer: (lookup: IndexLookup) => Promise<Answers[keyof Answers]>,
): Promise<Result> {
  let step = search.next()
  while (step.done !== true) step = search.next(await answer(step.value))
  return step.value
}
