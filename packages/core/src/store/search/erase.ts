import type { Entry } from '../rows.ts'
import { type Block, blockOf, passagesIn, withoutEntry } from './blocks.ts'
import { type IndexState, NO_INDEX, runsWith } from './index-state.ts'
import { type ListPage, rootBytes, withoutPassages } from './lists.ts'
import { passagesOf } from './words.ts'

/** The reads and writes of an engine to remove entries from an index, synchronous or not. */
export interface IndexRows {
  block(number: number): Block
  /** Where the passages of a block begin: the number in all blocks before it. */
  firstSlot(block: number): number
}

export type ErasedEntry = Pick<Entry, 'number' | 'kind' | 'body'>

/** A page to rewrite: the root it is stored under, and its remaining content. */
export interface RewrittenPage {
  readonly run: number
  readonly root: Uint8Array
  readonly pages: readonly ListPage[]
}

/** Above this share of a session, indexing the rest again is cheaper and as thorough. */
const REBUILD_SHARE = 0.25

export function erasesMost(state: IndexState, entries: readonly ErasedEntry[]): boolean {
  return entries.length > 16 && entries.length >= state.upto * REBUILD_SHARE
}

export interface Erasure {
  readonly state: IndexState
  readonly blocks: ReadonlyMap<number, Block>
  /** For each entry: the runs that may contain its words, the roots, and the passages to remove. */
  readonly words: readonly {
    readonly runs: readonly number[]
    readonly roots: readonly Uint8Array[]
    readonly from: number
    readonly to: number
  }[]
}

/** The changes for erasing indexed entries. Their texts must still exist. */
export function planErasure(
  state: IndexState,
  entries: readonly ErasedEntry[],
  rows: IndexRows,
): Erasure {
  const blocks = new Map<number, Block>()
  const words: Erasure['words'][number][] = []
  let { live, distinctSum } = state
  for (const entry of entries) {
    if (entry.number > state.upto) continue
    const number = blockOf(entry.number)
    const block = blocks.get(number) ?? rows.block(number)
    const { first, count } = passagesIn(block, entry.number)
    if (count === 0) continue
    const from = rows.firstSlot(number) + first
    const roots = new Set(passagesOf(entry).passages.flatMap((passage) => [...passage.roots]))
    words.push({
      runs: runsWith(state, from, from + count),
      roots: [...roots].map(rootBytes),
      ...{ from, to: from + count },
    })
    const without = withoutEntry(block, entry.number)
    blocks.set(number, without.block)
    live -= without.passages
    distinctSum -= without.distinct
  }
  return { state: { ...state, live, distinctSum }, blocks, words }
}

/** The page without the passages; null if it contains none of them. */
export function erasedPage(page: Uint8Array, from: number, to: number): readonly ListPage[] | null {
  let changes = 0
  const pages = withoutPassages(page, (passage) => {
    const isErased = passage >= from && passage < to
    if (isErased) changes++
    return isErased
  })
  return changes === 0 ? null : pages
}

export const EMPTY_STATE = JSON.stringify(NO_INDEX)
