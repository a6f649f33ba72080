import type { Entry } from '../tables/rows.ts'
import { type Block, blockOf, passagesIn, withoutEntry } from './blocks.ts'
import type { IndexState } from './index-state.ts'
import { type ListPage, rootBytes, withoutPassages } from './lists.ts'
import { passagesOf } from './words.ts'

/** The reads and writes of an engine to remove entries from an index, synchronous or not. */
export interface IndexRows {
  block(number: number): Block
  /** Where the passages of a block begin: the number in all blocks before it. */
  firstSlot(block: number): number
}

export type ErasedEntry = Pick<Entry, 'number' | 'kind' | 'body'>

export interface Erasure {
  readonly state: IndexState
  readonly blocks: ReadonlyMap<number, Block>
  /** The roots whose postings change, and which passages leave them. */
  readonly roots: readonly Uint8Array[]
  readonly isErased: (passage: number) => boolean
}

/** The changes for erasing indexed entries. Their texts must still exist. */
export function planErasure(
  state: IndexState,
  entries: readonly ErasedEntry[],
  rows: IndexRows,
): Erasure {
  const blocks = new Map<number, Block>()
  const roots = new Set<string>()
  const erased = new Set<number>()
  let { live, distinctSum } = state
  for (const entry of entries) {
    if (entry.number > state.upto) continue
    const number = blockOf(entry.number)
    const block = blocks.get(number) ?? rows.block(number)
    const { first, count } = passagesIn(block, entry.number)
    if (count === 0) continue
    const from = rows.firstSlot(number) + first
    for (const passage of passagesOf(entry).passages)
      for (const root of passage.roots) roots.add(root)
    for (let passage = from; passage < from + count; passage++) erased.add(passage)
    const without = withoutEntry(block, entry.number)
    blocks.set(number, without.block)
    live -= without.passages
    distinctSum -= without.distinct
  }
  return {
    ...{ state: { ...state, live, distinctSum }, blocks },
    roots: [...roots].map(rootBytes),
    isErased: (passage) => erased.has(passage),
  }
}

/** The page without the passages of a session; null if it contains none of them. */
export function erasedPage(
  page: Uint8Array,
  session: number,
  isErased: (passage: number) => boolean,
): readonly ListPage[] | null {
  let changes = 0
  const pages = withoutPassages(page, session, (passage) => {
    const isIt = isErased(passage)
    if (isIt) changes++
    return isIt
  })
  return changes === 0 ? null : pages
}
