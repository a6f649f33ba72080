import { DamagedRowError } from '../errors.ts'
import type { Block } from './blocks.ts'
import type { IndexState } from './index-state.ts'
import {
  findPosting,
  keyOf,
  keysOf,
  type Posting,
  readPassages,
  rootBytes,
  rootsOf,
  sessionsIn,
} from './lists.ts'
import { lookUp, type SearchSteps } from './lookup.ts'
import type { PassageTable } from './passage-table.ts'
import type { Term } from './ranking/rank.ts'
import { firstFrom, Occurrences, SESSION_STRIDE, unionOf } from './sessions/occurrences.ts'
import { closestRoot, isComparable, mayBeMistyped, SIMILAR_WEIGHT } from './similar.ts'
import { PART, passagesOf, type QuestionWord } from './words.ts'

/** A session, including the entries that are not indexed yet. */
export interface SearchPart {
  /** Its place in the searched list, and the number by which the index knows it. */
  readonly session: number
  readonly n: number
  /** The index numbers the entries behind this one. */
  readonly after: number
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
/** Of so few entries, all roots are read from their texts: the index has them beside those of all others. */
const CORRECTED_ENTRIES_MAX = 64
/** In a store with more passages, only its large sessions are corrected by the index. */
const CORRECTED_PASSAGES_MAX = 1_000_000
const CORRECTED_SHARE_MIN = 0.1

/** Finds the lists of roots and describes one. */
interface Finder<Found> {
  readonly find: (roots: readonly string[]) => SearchSteps<readonly Found[]>
  readonly isEmpty: (found: Found) => boolean
  /** The root closest to an unknown one; null: none, or it would take too long. */
  readonly closest: (root: string) => SearchSteps<string | null>
}

interface ChosenWord<Found> {
  readonly lists: readonly Found[]
  readonly weight: number
  readonly isName: boolean
}

/**
 * The lists of each word of the question. A word without any is searched as a part of names, then by
 * its own parts if it is a name, and finally as a misspelling.
 */
function* chooseWords<Found>(
  question: readonly QuestionWord[],
  { find, isEmpty, closest }: Finder<Found>,
): SearchSteps<readonly ChosenWord<Found>[]> {
  const found = new Map<string, Found>()
  function* add(wanted: Iterable<string>): SearchSteps<void> {
    const roots = [...new Set(wanted)]
    const lists = roots.length === 0 ? [] : yield* find(roots)
    for (const [at, root] of roots.entries()) found.set(root, lists[at] as Found)
  }
  const isAnywhere = (root: string) => {
    const lists = found.get(root)
    return lists !== undefined && !isEmpty(lists)
  }
  const chosen: ChosenWord<Found>[] = []
  const choose = (roots: readonly string[], weight: number, isName: boolean) => {
    const lists = roots.flatMap((root) => found.get(root) ?? [])
    chosen.push({ lists, weight, isName })
  }
  yield* add(question.flatMap(({ roots }) => roots))
  yield* add(
    question
      .filter(({ roots }) => !roots.some(isAnywhere))
      .flatMap(({ roots, parts: own }) => [...roots.map((root) => PART + root), ...own]),
  )
  for (const each of question) {
    const { word, roots, parts: own } = each
    const inNames = roots.map((root) => PART + root)
    if (roots.some(isAnywhere)) choose(roots, 1, isIdentifier(each))
    else if (inNames.some(isAnywhere)) choose(inNames, 1, false)
    else if (own.some(isAnywhere)) for (const part of own) choose([part], PART_WEIGHT, false)
    else if (mayBeMistyped(word)) {
      const meant = yield* closest(roots[0] ?? word)
      if (meant === null) continue
      yield* add([meant])
      choose([meant], SIMILAR_WEIGHT, false)
    }
  }
  return chosen
}

/** The lists of one root, by the sessions that have it. */
type Lists = ReadonlyMap<number, SessionList>
interface SessionList {
  readonly postings: readonly Posting[]
  readonly fresh: readonly number[]
}

/** The passages of each word of the question in a few sessions. */
export function* findTerms(
  question: readonly QuestionWord[],
  parts: readonly SearchPart[],
  /** How many passages the index of the whole store has. */
  stored: number,
): SearchSteps<{
  /** The sessions that contain any of them. */
  readonly holding: readonly SearchPart[]
  /** With passages numbered as in a table of these sessions, each up to its end. */
  readonly termsIn: (table: PassageTable, ends: readonly number[]) => readonly Term[]
}> {
  const chosen = yield* chooseWords(question, {
    find: (roots) => listsOf(roots, parts),
    isEmpty: (lists: Lists) => lists.size === 0,
    closest: (root) => closestAmong(root, parts, stored),
  })
  const sessions = new Set(chosen.flatMap(({ lists }) => lists.flatMap((each) => [...each.keys()])))
  const holding = parts.filter(({ session }) => sessions.has(session))
  const termsIn = (table: PassageTable, ends: readonly number[]) => {
    pool.end = 0
    return chosen.map(({ lists, weight, isName }) => {
      const postings = union(lists.map((each) => joined(each, holding, table, ends)))
      return { weight, isName, postings, frequency: postings.length }
    })
  }
  return { holding, termsIn }
}

/** For so many sessions at once, so that few pages are in memory. */
const SESSIONS_AT_ONCE = 64

function* listsOf(
  roots: readonly string[],
  parts: readonly SearchPart[],
): SearchSteps<readonly Lists[]> {
  const bytes = roots.map(rootBytes)
  const found = roots.map(() => new Map<number, SessionList>())
  for (let from = 0; from < parts.length; from += SESSIONS_AT_ONCE) {
    const some = parts.slice(from, from + SESSIONS_AT_ONCE).filter(({ index }) => index.slots > 0)
    const keys = bytes.flatMap((root) => some.map(({ n }) => keyOf(root, n)))
    const read = keys.length === 0 ? [] : yield* lookUp({ want: 'pages', keys })
    for (const [at, root] of bytes.entries()) {
      for (const [each, { session, n }] of some.entries()) {
        const pages = read[at * some.length + each] ?? []
        const postings = pages.flatMap((page) => findPosting(page, root, n) ?? [])
        if (postings.length > 0) found[at]?.set(session, { postings, fresh: [] })
      }
    }
  }
  for (const [at, root] of roots.entries()) {
    for (const { session, fresh } of parts) {
      const passages = fresh.get(root)
      if (passages === undefined) continue
      const { postings = [] } = found[at]?.get(session) ?? {}
      found[at]?.set(session, { postings, fresh: passages })
    }
  }
  return found
}

/** A word of the question, with its places in all searched sessions. */
export interface StoreWord extends Omit<Term, 'postings' | 'frequency'> {
  readonly places: Float64Array
}

/** The words of the question in every wanted session of the store. */
export function* findWords(
  question: readonly QuestionWord[],
  wants: ((session: number) => boolean) | null,
  /** Sessions with entries that are not indexed yet. */
  behind: readonly SearchPart[],
  /** Whether to read all roots of a letter, to correct a misspelling. */
  corrects: boolean,
): SearchSteps<readonly StoreWord[]> {
  const chosen = yield* chooseWords(question, {
    *find(roots) {
      const bytes = roots.map(rootBytes)
      const read = yield* lookUp({ want: 'range', ranges: bytes.map(keysOf) })
      return roots.map((root, at) => {
        const pages = read[at] ?? []
        const fresh = behind.map((part) => ({ n: part.n, passages: part.fresh.get(root) ?? [] }))
        // A passage takes at least a byte.
        const stored = pages.reduce((sum, { length }) => sum + length, 0)
        const most = fresh.reduce((sum, { passages }) => sum + passages.length, stored)
        const places = new Occurrences(most)
        for (const page of pages) places.read(page, bytes[at] as Uint8Array, wants)
        for (const { n, passages } of fresh) places.add(n, passages)
        return places.end()
      })
    },
    isEmpty: (places: Float64Array) => places.length === 0,
    *closest(root) {
      return corrects ? yield* closestIn(root, behind, wants) : null
    },
  })
  return chosen.map(({ lists, weight, isName }) => {
    return { weight, isName, places: unionOf(lists) }
  })
}

/** The terms in a table of some of the sessions, each up to its end. */
export function termsOf(
  words: readonly StoreWord[],
  holding: readonly SearchPart[],
  table: PassageTable,
  ends: readonly number[],
): readonly Term[] {
  pool.end = 0
  return words.map(({ places, weight, isName }) => {
    const ranges = holding.map(({ n }, at) => {
      const from = firstFrom(places, n * SESSION_STRIDE)
      return { from, to: firstFrom(places, (n + 1) * SESSION_STRIDE, from), n, at }
    })
    const postings = roomFor(ranges.reduce((sum, { from, to }) => sum + to - from, 0))
    let end = 0
    for (const { from, to, n, at } of ranges) {
      const base = table.firstSlot(at) - n * SESSION_STRIDE
      for (let place = from; place < to; place++) {
        const passage = (places[place] as number) + base
        if (passage < (ends[at] as number)) postings[end++] = passage
      }
    }
    return { weight, isName, postings: postings.subarray(0, end), frequency: places.length }
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
function joined(
  lists: Lists,
  holding: readonly SearchPart[],
  table: PassageTable,
  ends: readonly number[],
): Uint32Array {
  let count = 0
  for (const { postings: stored, fresh } of lists.values()) {
    count += fresh.length
    for (const posting of stored) count += posting.count
  }
  const postings = roomFor(count)
  let end = 0
  for (const [place, { session }] of holding.entries()) {
    const { postings: stored = [], fresh = [] } = lists.get(session) ?? {}
    const base = table.firstSlot(place)
    const start = end
    let isAscending = true
    for (const posting of stored) {
      const from = end
      end = readPassages(posting, postings, end)
      if (from > start && (postings[from] as number) < (postings[from - 1] as number)) {
        isAscending = false
      }
    }
    if (!isAscending) postings.subarray(start, end).sort()
    for (const passage of fresh) postings[end++] = passage
    if (base > 0) {
      for (let at = start; at < end; at++) postings[at] = (postings[at] as number) + base
    }
    while (end > start && (postings[end - 1] as number) >= (ends[place] as number)) end--
  }
  return postings.subarray(0, end)
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

function* closestAmong(
  root: string,
  parts: readonly SearchPart[],
  stored: number,
): SearchSteps<string | null> {
  if (parts.length > CORRECTED_SESSIONS_MAX) return null
  const entries = parts.reduce((sum, { index }) => sum + index.upto, 0)
  if (entries <= CORRECTED_ENTRIES_MAX) {
    const known = freshRoots(parts, root)
    const ranges = parts.flatMap(({ session, after, index }) =>
      index.upto === 0 ? [] : [{ session, from: after + 1, to: after + index.upto }],
    )
    const read = ranges.length === 0 ? [] : yield* lookUp({ want: 'entries', ranges })
    for (const found of read) {
      for (const entry of found instanceof DamagedRowError ? [] : found) {
        for (const { roots } of passagesOf(entry).passages) {
          for (const each of roots) if (isComparable(each, root)) known.add(each)
        }
      }
    }
    return closestRoot(root, known)
  }
  const live = parts.reduce((sum, { index }) => sum + index.live, 0)
  if (stored > CORRECTED_PASSAGES_MAX && live < stored * CORRECTED_SHARE_MIN) return null
  const numbers = new Set(parts.map(({ n }) => n))
  return yield* closestIn(root, parts, (n) => numbers.has(n))
}

function freshRoots(parts: readonly SearchPart[], root: string): Set<string> {
  const known = new Set<string>()
  for (const { fresh } of parts) {
    for (const each of fresh.keys()) if (isComparable(each, root)) known.add(each)
  }
  return known
}

function* closestIn(
  root: string,
  behind: readonly SearchPart[],
  wants: ((session: number) => boolean) | null,
): SearchSteps<string | null> {
  const [letter = ''] = root
  const from = rootBytes(letter)
  const to = rootBytes(String.fromCodePoint((letter.codePointAt(0) ?? 0) + 1))
  const known = freshRoots(behind, root)
  const [pages = []] = yield* lookUp({ want: 'range', ranges: [{ from, to }] })
  for (const page of pages) {
    for (const { root: bytes, sessions } of rootsOf(page)) {
      // Each character takes at least a byte, and at most four.
      if (bytes.length < root.length - 3 || bytes.length > 4 * (root.length + 3)) continue
      if (wants !== null && !isAny(sessionsIn(sessions), wants)) continue
      const each = decoder.decode(bytes)
      if (isComparable(each, root)) known.add(each)
    }
  }
  return closestRoot(root, known)
}

function isAny(sessions: Iterable<number>, wants: (session: number) => boolean): boolean {
  for (const session of sessions) if (wants(session)) return true
  return false
}

/** A camel-case name, letters with digits, or a number that is not a year. */
function isIdentifier({ word, parts }: QuestionWord): boolean {
  if (parts.length > 0 || /\p{L}\p{N}|\p{N}\p{L}/u.test(word)) return true
  return /^\p{N}{3,}$/u.test(word) && !/^(?:19|20)\d\d$/.test(word)
}
