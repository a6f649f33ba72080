import { ByteReader, ByteWriter, compareBytes, damagedIndexError } from './bytes.ts'

/**
 * The word index as bytes, the same on every engine. An item is a root and the ascending numbers of
 * the passages that contain it. Items are sorted by the bytes of their root and packed into pages,
 * which an engine stores as rows under the first root. Within a page, roots are prefix-compressed.
 *
 * item: shared, length, rest of the root, count, then one passage, or size and delta after delta.
 */
const PAGE_BYTES = 1_900
const ROOT_BYTES_MAX = 255

export interface ListItem {
  readonly root: Uint8Array
  readonly count: number
  /** The passages as deltas, the first one counted from 0. */
  readonly list: Uint8Array
}

export interface ListPage {
  readonly root: Uint8Array
  readonly bytes: Uint8Array
}

const encoder = new TextEncoder()

/** The key of a root. Longer ones are truncated on every engine; real words are never this long. */
export function rootBytes(root: string): Uint8Array {
  return encoder.encode(root).subarray(0, ROOT_BYTES_MAX)
}

export function itemOf(root: Uint8Array, passages: readonly number[]): ListItem {
  const writer = new ByteWriter()
  let before = 0
  for (const passage of passages) {
    writer.putNumber(passage - before)
    before = passage
  }
  return { root, count: passages.length, list: writer.take() }
}

export function* listItemsOf(page: Uint8Array): Generator<ListItem> {
  const reader = new ByteReader(page)
  let before = new Uint8Array(0)
  while (!reader.isAtEnd) {
    const shared = reader.next()
    const length = reader.next()
    const root = new Uint8Array(shared + length)
    root.set(before.subarray(0, shared))
    root.set(reader.take(length), shared)
    const count = reader.nextNumber()
    const list = listAt(reader, count)
    before = root
    yield { root, count, list }
  }
}

function listAt(reader: ByteReader, count: number): Uint8Array {
  const start = reader.at
  if (count === 1) {
    reader.nextNumber()
    return reader.bytes.subarray(start, reader.at)
  }
  return reader.take(reader.nextNumber())
}

/** Finds the item of a root in its page without decoding the others. */
export function findItem(page: Uint8Array, root: Uint8Array): ListItem | null {
  const reader = new ByteReader(page)
  // How many bytes the wanted root shares with the previous item, and whether that is all of it.
  let matched = 0
  while (!reader.isAtEnd) {
    const shared = reader.next()
    const length = reader.next()
    const from = reader.at
    reader.at += length
    if (shared <= matched) {
      matched = shared
      while (
        matched < root.length &&
        matched - shared < length &&
        page[from + matched - shared] === root[matched]
      ) {
        matched++
      }
    }
    const isIt = matched === root.length && shared + length === root.length
    const count = reader.nextNumber()
    if (isIt) return { root, count, list: listAt(reader, count) }
    if (count === 1) reader.nextNumber()
    else {
      const size = reader.nextNumber()
      reader.at += size
    }
  }
  return null
}

/** Writes the passages of an item to `into` from `at` on; returns the end. */
export function readPassages({ list, count }: ListItem, into: Uint32Array, at: number): number {
  let position = 0
  let passage = 0
  for (let index = 0; index < count; index++) {
    let byte = list[position++] ?? 0
    let delta = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = list[position++] ?? 0
      delta += (byte & 127) * 2 ** shift
    }
    passage += delta
    into[at + index] = passage
  }
  if (position !== list.length) throw damagedIndexError()
  return at + count
}

export function passagesOfItem(item: ListItem): Uint32Array {
  const passages = new Uint32Array(item.count)
  readPassages(item, passages, 0)
  return passages
}

/** Packs sorted items into pages. */
export class PageWriter {
  readonly pages: ListPage[] = []
  readonly #writer = new ByteWriter()
  #first: Uint8Array | null = null
  #before = new Uint8Array(0)

  add({ root, count, list }: ListItem): void {
    const writer = this.#writer
    if (this.#first !== null && writer.length + root.length + list.length > PAGE_BYTES) this.end()
    this.#first ??= root
    let shared = 0
    while (shared < root.length && root[shared] === this.#before[shared]) shared++
    writer.put(shared)
    writer.put(root.length - shared)
    writer.putBytes(root.subarray(shared))
    writer.putNumber(count)
    if (count > 1) writer.putNumber(list.length)
    writer.putBytes(list)
    this.#before = new Uint8Array(root)
  }

  end(): readonly ListPage[] {
    if (this.#first !== null) {
      this.pages.push({ root: this.#first, bytes: this.#writer.take() })
      this.#first = null
      this.#before = new Uint8Array(0)
    }
    return this.pages
  }
}

/** Packs roots and their passages into pages. */
export function packLists(lists: ReadonlyMap<string, readonly number[]>): readonly ListPage[] {
  const items = [...lists].map(([root, passages]) => itemOf(rootBytes(root), passages))
  items.sort((a, b) => compareBytes(a.root, b.root))
  const writer = new PageWriter()
  for (const item of items) writer.add(item)
  return writer.end()
}

/** One input of a merge: its first pages, and whether more follow. */
export interface MergeInput {
  readonly pages: readonly Uint8Array[]
  readonly isMore: boolean
}

/**
 * Merges the beginnings of runs, in the order of their passages, up to the last root that every
 * input has reached. The caller writes the returned rest back into its run.
 */
export function mergePages(inputs: readonly MergeInput[]): {
  readonly merged: readonly ListPage[]
  readonly left: readonly (readonly ListPage[])[]
} {
  const items = inputs.map(({ pages }) => pages.flatMap((page) => [...listItemsOf(page)]))
  const bound = inputs.reduce<Uint8Array | null>((least, { isMore }, index) => {
    const last = items[index]?.at(-1)?.root
    if (!isMore || last === undefined) return least
    return least === null || compareBytes(last, least) < 0 ? last : least
  }, null)
  const at = items.map(() => 0)
  const writer = new PageWriter()
  for (;;) {
    let root: Uint8Array | null = null
    for (const [index, list] of items.entries()) {
      const item = list[at[index] as number]
      if (item && (root === null || compareBytes(item.root, root) < 0)) root = item.root
    }
    if (root === null || (bound !== null && compareBytes(root, bound) > 0)) break
    const parts: ListItem[] = []
    for (const [index, list] of items.entries()) {
      const item = list[at[index] as number]
      if (item === undefined || compareBytes(item.root, root) !== 0) continue
      parts.push(item)
      at[index] = (at[index] as number) + 1
    }
    writer.add(parts.length === 1 ? (parts[0] as ListItem) : joined(root, parts))
  }
  const left = items.map((list, index) => {
    const rest = new PageWriter()
    for (const item of list.slice(at[index])) rest.add(item)
    return rest.end()
  })
  return { merged: writer.end(), left }
}

/** Concatenates lists; only the first passage of each needs a new delta. */
function joined(root: Uint8Array, parts: readonly ListItem[]): ListItem {
  const writer = new ByteWriter()
  let last = 0
  let count = 0
  for (const part of parts) {
    const reader = new ByteReader(part.list)
    let passage = reader.nextNumber()
    writer.putNumber(passage - last)
    writer.putBytes(part.list.subarray(reader.at))
    while (!reader.isAtEnd) passage += reader.nextNumber()
    last = passage
    count += part.count
  }
  return { root, count, list: writer.take() }
}

/** The page without some passages of some roots; roots without passages are dropped. */
export function withoutPassages(
  page: Uint8Array,
  isErased: (passage: number) => boolean,
): readonly ListPage[] {
  const writer = new PageWriter()
  for (const item of listItemsOf(page)) {
    const passages = [...passagesOfItem(item)]
    const kept = passages.filter((passage) => !isErased(passage))
    if (kept.length === passages.length) writer.add(item)
    else if (kept.length > 0) writer.add(itemOf(item.root, kept))
  }
  return writer.end()
}
