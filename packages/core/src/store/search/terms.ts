import type { Block } from './blocks.ts'
import { type IndexState, runIds } from './index-state.ts'
import { findItem, type ListItem, listItemsOf, readPassages, rootBytes } from './lists.ts'
import { lookUp, type SearchSteps } from './lookup.ts'
import type { PassageTable } from './passage-table.ts'
import type { Term } from './rank.ts'
import { closestRoot, mayBeMistyped, SIMILAR_WEIGHT } from './similar.ts'
import { PART, type QuestionWord } from './words.ts'

/** A session, including the entries that are not indexed yet. */
export interface SearchPart {
  readonly session: number
  readonly index: IndexState
  readonly fresh: ReadonlyMap<string, readonly number[]>
  readonly freshBlocks: readonly Block[]
  /** Totals including the unindexed entries; `index` counts only what is stored. */
  readonly live: number
  readonly distinctSum: number
  readonly pending: number
}

/** A name that does not occur as a whole may occur in parts. */
const PART_WEIGHT = 0.5
/** In more sessions, misspellings are not corrected: that reads all roots of a first letter. */
const CORRECTED_SESSIONS_MAX = 20

/** The lists of one root, by the sessions that have it. */
type Lists = ReadonlyMap<
  number,
  { readonly items: readonly ListItem[]; readonly fresh: readonly number[] }
>

/**
 * The passages of each word of the question. A word without any is searched as a part of names,
 * then by its own parts if it is a name, and finally as a misspelling.
 */
export function* findTerms(
  question: readonly QuestionWord[],
  parts: readonly SearchPart[],
): SearchSteps<{
  /** The sessions that contain any of them. */
  readonly holding: readonly SearchPart[]
  /** With passages numbered as in a table of these sessions, ignoring `end` and later ones. */
  readonly termsIn: (table: PassageTable, end: number) => readonly Term[]
}> {
  const found = new Map(yield* listsOf(new Set(question.flatMap(({ roots }) => roots)), parts))
  const isAnywhere = (root: string) => (found.get(root)?.size ?? 0) > 0
  const others = question
    .filter(({ roots }) => !roots.some(isAnywhere))
    .flatMap(({ roots, parts: own }) => [...roots.map((root) => PART + root), ...own])
  for (const [root, lists] of yield* listsOf(new Set(others), parts)) found.set(root, lists)
  const chosen: (Omit<Term, 'postings'> & { readonly roots: readonly string[] })[] = []
  for (const each of question) {
    const { word, roots, parts: own } = each
    const inNames = roots.map((root) => PART + root)
    if (roots.some(isAnywhere)) chosen.push({ roots, weight: 1, isName: isIdentifier(each) })
    else if (inNames.some(isAnywhere)) chosen.push({ roots: inNames, weight: 1, isName: false })
    else if (own.some(isAnywhere)) {
      for (const part of own) chosen.push({ roots: [part], weight: PART_WEIGHT, isName: false })
    } else if (mayBeMistyped(word) && parts.length <= CORRECTED_SESSIONS_MAX) {
      const closest = yield* closestIn(roots[0] ?? word, parts)
      if (closest === null) continue
      for (const [root, lists] of yield* listsOf([closest], parts)) found.set(root, lists)
      chosen.push({ roots: [closest], weight: SIMILAR_WEIGHT, isName: false })
    }
  }
  const used = chosen.map(({ roots }) => roots.flatMap((root) => found.get(root) ?? []))
  const sessions = new Set(used.flat().flatMap((lists) => [...lists.keys()]))
  const holding = parts.filter(({ session }) => sessions.has(session))
  const termsIn = (table: PassageTable, end: number) => {
    pool.end = 0
    return chosen.map(({ weight, isName }, at) => {
      const postings = union((used[at] ?? []).map((lists) => joined(lists, holding, table)))
      return { weight, isName, postings: cutAt(postings, end) }
    })
  }
  return { holding, termsIn }
}

function* listsOf(
  wanted: Iterable<string>,
  parts: readonly SearchPart[],
): SearchSteps<readonly (readonly [string, Lists])[]> {
  const roots = [...wanted]
  if (roots.length === 0) return []
  const keys = roots.map(rootBytes)
  const of = parts.flatMap(({ session, index }) =>
    index.runs.length > 0 ? [{ session, runs: runIds(index) }] : [],
  )
  const read = of.length === 0 ? [] : yield* lookUp({ want: 'pages', of, roots: keys })
  const pagesOf = new Map(
    of.map(({ session, runs }, at) => [session, { runs, pages: read[at] ?? [] }]),
  )
  return roots.map((root, at) => {
    const lists = new Map<number, { items: readonly ListItem[]; fresh: readonly number[] }>()
    for (const { session, fresh } of parts) {
      const { runs = [], pages = [] } = pagesOf.get(session) ?? {}
      const items = runs.flatMap((_, run) => {
        const page = pages[run * keys.length + at]
        return (page && findItem(page, keys[at] as Uint8Array)) || []
      })
      const freshly = fresh.get(root) ?? []
      if (items.length + freshly.length > 0) lists.set(session, { items, fresh: freshly })
    }
    return [root, lists] as const
  })
}

/** A buffer for the postings, reused by the next search: allocating costs more than filling. */
const pool = { cells: new Uint32Array(0), end: 0 }
const POOL_CELLS_MAX = 4 * 1024 * 1024

function roomFor(count: number): Uint32Array {
  if (pool.end + count > pool.cells.length) {
    const cells = Math.max(2 * pool.cells.length, count)
    if (cells > POOL_CELLS_MAX) return new Uint32Array(count)
    // Lists returned before keep the old buffer.
    pool.cells = new Uint32Array(cells)
    pool.end = 0
  }
  pool.end += count
  return pool.cells.subarray(pool.end - count, pool.end)
}

/** Passages of all sessions and runs, ascending; runs are in order except during a merge. */
function joined(lists: Lists, holding: readonly SearchPart[], table: PassageTable): Uint32Array {
  let count = 0
  for (const { items, fresh } of lists.values()) {
    count += fresh.length
    for (const item of items) count += item.count
  }
  const postings = roomFor(count)
  let end = 0
  for (const [place, { session }] of holding.entries()) {
    const { items = [], fresh = [] } = lists.get(session) ?? {}
    const base = table.firstSlot(place)
    const start = end
    for (const item of items) end = readPassages(item, postings, end)
    for (const passage of fresh) postings[end++] = passage
    if (base > 0)
      for (let at = start; at < end; at++) postings[at] = (postings[at] as number) + base
  }
  return isAscending(postings) ? postings : postings.sort()
}

function cutAt(postings: Uint32Array, end: number): Uint32Array {
  let low = 0
  let high = postings.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((postings[middle] as number) < end) low = middle + 1
    else high = middle
  }
  return postings.subarray(0, low)
}

function isAscending(numbers: Uint32Array): boolean {
  for (let at = 1; at < numbers.length; at++) {
    if ((numbers[at] as number) < (numbers[at - 1] as number)) return false
  }
  return true
}

/** The numbers of all lists, ascending, each once. */
function union(lists: readonly Uint32Array[]): Uint32Array {
  return lists.reduce(unionOfTwo, new Uint32Array(0))
}

function unionOfTwo(a: Uint32Array, b: Uint32Array): Uint32Array {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a
  const both = roomFor(a.length + b.length)
  let [atA, atB, end] = [0, 0, 0]
  while (atA < a.length || atB < b.length) {
    const nextA = a[atA] ?? Number.POSITIVE_INFINITY
    const nextB = b[atB] ?? Number.POSITIVE_INFINITY
    both[end++] = Math.min(nextA, nextB)
    if (nextA <= nextB) atA++
    if (nextB <= nextA) atB++
  }
  return both.subarray(0, end)
}

const decoder = new TextDecoder()

function* closestIn(root: string, parts: readonly SearchPart[]): SearchSteps<string | null> {
  const [letter = ''] = root
  const from = rootBytes(letter)
  const to = rootBytes(String.fromCodePoint((letter.codePointAt(0) ?? 0) + 1))
  const known = new Set<string>()
  for (const { fresh } of parts) {
    for (const each of fresh.keys()) if (each.startsWith(letter)) known.add(each)
  }
  const of = parts.map(({ session, index }) => ({ session, runs: runIds(index) }))
  for (const page of yield* lookUp({ want: 'range', of, from, to })) {
    for (const { root: bytes } of listItemsOf(page)) {
      const each = decoder.decode(bytes)
      if (each.startsWith(letter)) known.add(each)
    }
  }
  return closestRoot(root, known)
}

/** A camel-case name, letters with digits, or a number that is not a year. */
function isIdentifier({ word, parts }: QuestionWord): boolean {
  if (parts.length > 0 || /\p{L}\p{N}|\p{N}\p{L}/u.test(word)) return true
  return /^\p{N}{3,}$/u.test(word) && !/^(?:19|20)\d\d$/.test(word)
}
