import { isObject } from '../../base/json.ts'
import { isCount } from '../measure.ts'
import { type Block, BlockWriter, blockOf, EMPTY_BLOCK, type IndexedEntry } from './blocks.ts'
import { isCountsAndNames, parseIndexed } from './bytes.ts'
import { passagesOf } from './words.ts'

/**
 * A run of the store's index: a sorted series of pages over entries of any sessions. Small runs are
 * merged into larger ones, a few pages at a time; at any time a posting is either in the inputs of a
 * merge or in its output, so a reader of all runs always finds everything.
 */
export interface Run {
  readonly id: number
  readonly entries: number
  /** The run that this one is being merged into. */
  readonly into: number | null
}

export function unpackRuns(packed: string): readonly Run[] {
  const isRun = (run: unknown) =>
    isObject(run) && ['id', 'entries'].every((name) => isCount(run[name] as number))
  return parseIndexed(packed, (value) => Array.isArray(value) && value.every(isRun)) as Run[]
}

/** How far a session is indexed. */
export interface IndexState {
  /** Entries 1..upto are indexed. */
  readonly upto: number
  /** Passage numbers issued so far; those of erased entries are not reused. */
  readonly slots: number
  readonly live: number
  readonly distinctSum: number
  readonly languages: readonly string[]
}

export const NO_INDEX: IndexState = {
  upto: 0,
  slots: 0,
  live: 0,
  distinctSum: 0,
  languages: [],
}

/** As it is stored: there is one for each session. */
export function packState({ upto, slots, live, distinctSum, languages }: IndexState): string {
  return JSON.stringify([upto, slots, live, distinctSum, ...languages])
}

export function unpackState(packed: string): IndexState {
  const state = parseIndexed(packed, (value) => isCountsAndNames(value, 4)) as PackedState
  const [upto, slots, live, distinctSum, ...languages] = state
  return { upto, slots, live, distinctSum, languages }
}

type PackedState = [number, number, number, number, ...string[]]

export interface IndexedBatch {
  readonly state: IndexState
  /** Blocks to write, by number. */
  readonly blocks: ReadonlyMap<number, Block>
  readonly lists: ReadonlyMap<string, readonly number[]>
}

/** Adds the next entries. `last`: the block of the first of them, if it exists. */
export function indexBatch(
  state: IndexState,
  last: Block | null,
  entries: readonly IndexedEntry[],
): IndexedBatch {
  const lists = new Map<string, number[]>()
  const writers = new Map<number, BlockWriter>()
  const languages = new Set(state.languages)
  let { slots, live, distinctSum, upto } = state
  for (const entry of entries) {
    const block = blockOf(entry.number)
    let writer = writers.get(block)
    if (writer === undefined) {
      writer = new BlockWriter(writers.size === 0 && last !== null ? last : EMPTY_BLOCK)
      writers.set(block, writer)
    }
    const { language, passages } = passagesOf(entry)
    if (passages.length > 0) languages.add(language.name)
    writer.add(entry, passages)
    for (const { roots, distinct } of passages) {
      for (const root of roots) {
        const list = lists.get(root)
        if (list === undefined) lists.set(root, [slots])
        else list.push(slots)
      }
      slots++
      live++
      distinctSum += distinct
    }
    upto = entry.number
  }
  return {
    state: { ...{ upto, slots, live, distinctSum }, languages: [...languages].sort() },
    blocks: new Map([...writers].map(([block, writer]) => [block, writer.end()])),
    lists,
  }
}

/** The runs with a new one, and its id. */
export function withRun(
  runs: readonly Run[],
  entries: number,
): { readonly runs: readonly Run[]; readonly id: number } {
  const id = Math.max(0, ...runIds(runs)) + 1
  return { runs: [...runs, { id, entries, into: null }], id }
}

const FAN_IN = 8

/**
 * The merge to continue or start: the newest runs, at least eight, as soon as none of them is
 * larger than the others together. So an entry is rewritten about once per doubling.
 */
export function dueMerge(
  runs: readonly Run[],
): { readonly inputs: readonly Run[]; readonly output: number } | null {
  const begun = runs.filter(({ into }) => into !== null)
  const output = begun[0]?.into
  if (output) return { inputs: begun, output }
  let total = 0
  let largest = 0
  for (let at = runs.length - 1; at >= 0; at--) {
    const { entries } = runs[at] as Run
    total += entries
    largest = Math.max(largest, entries)
    if (runs.length - at < FAN_IN || 2 * largest > total) continue
    return { inputs: runs.slice(at), output: Math.max(...runIds(runs)) + 1 }
  }
  return null
}

/** The runs during a merge, or after it if `isDone`. */
export function withMerge(
  runs: readonly Run[],
  { inputs, output }: { inputs: readonly Run[]; output: number },
  isDone: boolean,
): readonly Run[] {
  const ids = new Set(inputs.map(({ id }) => id))
  return runs.flatMap((run): readonly Run[] => {
    if (!ids.has(run.id)) return [run]
    if (!isDone) return [{ ...run, into: output }]
    if (run.id !== inputs[0]?.id) return []
    const entries = inputs.reduce((total, each) => total + each.entries, 0)
    return [{ id: output, entries, into: null }]
  })
}

/** Every run that may contain words, including the outputs of merges. */
export function runIds(runs: readonly Run[]): readonly number[] {
  return [...new Set(runs.flatMap(({ id, into }) => (into === null ? [id] : [id, into])))]
}
