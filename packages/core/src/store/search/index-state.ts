import { type Block, BlockWriter, blockOf, EMPTY_BLOCK, type IndexedEntry } from './blocks.ts'
import { type ListPage, packLists } from './lists.ts'
import { passagesOf } from './words.ts'

/**
 * How far a session is indexed, and into which runs. A run is a sorted series of pages over a range
 * of passages. Small runs are merged into larger ones, a few pages at a time; at any time a root is
 * either in the inputs of a merge or in its output, so a reader of all runs always finds
 * everything.
 */
export interface Run {
  readonly id: number
  readonly entries: number
  /** Its passages; `to` is exclusive. */
  readonly from: number
  readonly to: number
  /** The run that this one is being merged into. */
  readonly into: number | null
}

export interface IndexState {
  /** Entries 1..upto are indexed. */
  readonly upto: number
  /** Passage numbers issued so far; those of erased entries are not reused. */
  readonly slots: number
  readonly live: number
  readonly distinctSum: number
  readonly languages: readonly string[]
  readonly runs: readonly Run[]
}

export const NO_INDEX: IndexState = {
  upto: 0,
  slots: 0,
  live: 0,
  distinctSum: 0,
  languages: [],
  runs: [],
}

export interface IndexedBatch {
  readonly state: IndexState
  /** The new run, as pages; none if the entries contain no words. */
  readonly run: number
  readonly pages: readonly ListPage[]
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
  const id = Math.max(0, ...state.runs.map((run) => Math.max(run.id, run.into ?? 0))) + 1
  const run = { id, entries: entries.length, from: state.slots, to: slots, into: null }
  return {
    state: {
      ...{ upto, slots, live, distinctSum },
      languages: [...languages].sort(),
      runs: slots > state.slots ? [...state.runs, run] : state.runs,
    },
    run: id,
    pages: packLists(lists),
    blocks: new Map([...writers].map(([block, writer]) => [block, writer.end()])),
    lists,
  }
}

const FAN_IN = 8

/**
 * The merge to continue or start: the newest runs, at least eight, as soon as none of them is
 * larger than the others together. So an entry is rewritten about once per doubling.
 */
export function dueMerge(state: IndexState): { inputs: readonly Run[]; output: number } | null {
  const { runs } = state
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
    return { inputs: runs.slice(at), output: Math.max(...runs.map(({ id }) => id)) + 1 }
  }
  return null
}

/** The state during a merge, or after it if `isDone`. */
export function withMerge(
  state: IndexState,
  { inputs, output }: { inputs: readonly Run[]; output: number },
  isDone: boolean,
): IndexState {
  const ids = new Set(inputs.map(({ id }) => id))
  const runs = state.runs.flatMap((run): readonly Run[] => {
    if (!ids.has(run.id)) return [run]
    if (!isDone) return [{ ...run, into: output }]
    if (run !== inputs[0] && run.id !== inputs[0]?.id) return []
    const entries = inputs.reduce((total, each) => total + each.entries, 0)
    return [{ id: output, entries, from: run.from, to: inputs.at(-1)?.to ?? run.to, into: null }]
  })
  return { ...state, runs }
}

/** Every run that may contain words, including the outputs of merges. */
export function runIds({ runs }: Pick<IndexState, 'runs'>): readonly number[] {
  return [...new Set(runs.flatMap(({ id, into }) => (into === null ? [id] : [id, into])))]
}

/** The runs that may contain these passages. */
export function runsWith({ runs }: IndexState, from: number, to: number): readonly number[] {
  const holding = runs.filter((run) => run.from < to && from < run.to)
  return runIds({ runs: holding })
}
