import { LIST_MAX } from '../bounds.ts'
import { DamagedRowError } from '../errors.ts'
import type { Search as Query, SearchAnswer, SearchHit } from '../queries.ts'
import type { Entry } from '../tables/rows.ts'
import type { ColumnsCache } from './columns-cache.ts'
import { stretchesIn } from './dates.ts'
import {
  entryFilter,
  isFilteredByEntry,
  phrasesIn,
  storedFilter,
  type Verify,
  verifier,
} from './filter.ts'
import { indexBatch } from './index-state.ts'
import { lookUp, type Searched, type SearchSteps } from './lookup.ts'
import { FUSED_DEPTH, fuse } from './meaning/fuse.ts'
import { nearestTo, type PlacedEntry } from './meaning/nearest.ts'
import { ownSession, renumbered } from './parts.ts'
import { PassageColumns, PassageTable, type SessionStart } from './passage-table.ts'
import { cutPassages } from './passages.ts'
import { idfIn, type RankBudget, type Ranked, rankPassages, type Term } from './ranking/rank.ts'
import { bestSessions, holdingSessions } from './sessions/best-sessions.ts'
import { spelledIn, spellingsIn } from './spellings/spellings.ts'
import { findTerms, findWords, type SearchPart, termsOf } from './terms.ts'
import { questionOf, searchedText } from './words.ts'

/** All sessions of the store, of an agent or of a person, known by what the index counts of them. */
export interface SearchedRange {
  /** Which sessions, by their numbers; null: all. */
  readonly wants: ((session: number) => boolean) | null
  /** Over the indexed entries of these sessions. */
  readonly totals: IndexTotals
  /** Those with entries that are not indexed yet. */
  readonly behind: readonly Searched[]
}

export interface IndexTotals {
  readonly live: number
  readonly distinctSum: number
  readonly languages: readonly string[]
}

/**
 * How many unindexed entries are read directly, of each session or of a whole range; the rest is
 * counted and reported.
 */
const UNINDEXED_READ_MAX = 1_000
/** In a range, the passages of so many sessions are ranked, unless there are filters. */
const RANKED_SESSIONS_MAX = 64
/** In a range with more passages, misspellings are not corrected. */
const CORRECTED_PASSAGES_MAX = 50_000
/** How many hits, best first, are checked for phrases and tools in their text. */
const VERIFIED_MAX = 2_000
const VERIFY_PAGE = 50
/** So many entries are found by their meaning; every entry is near to a question, more or less. */
const NEAREST_SHOWN_MAX = 50
/** So many of the best are compared with the spelling of identifiers; the same for every page. */
const COMPARED_MAX = 50

export interface SearchOptions {
  /** How many passages the index of the whole store has. */
  readonly stored: number
  readonly cache?: ColumnsCache
  readonly budget?: RankBudget
}

/** The sessions whose passages are ranked, and the words of the question in them. */
interface Gathered {
  readonly sessions: readonly Searched[]
  readonly holding: readonly SearchPart[]
  readonly termsIn: (table: PassageTable, ends: readonly number[]) => readonly Term[]
  readonly totals: Pick<IndexTotals, 'live' | 'distinctSum'>
  readonly pending: number
}

/** Null: the question has no words. */
function* gather(
  query: Query,
  sessions: readonly Searched[],
  stored: number,
): SearchSteps<Gathered | null> {
  const parts = yield* partsOf(sessions, UNINDEXED_READ_MAX * sessions.length)
  const spoken = new Set(parts.flatMap(({ index }) => index.languages))
  const totals = {
    live: sum(parts, ({ live }) => live),
    distinctSum: sum(parts, ({ distinctSum }) => distinctSum),
  }
  const question = questionOf(query.text, spoken)
  if (question.length === 0) return null
  const found = yield* findTerms(question, parts, stored)
  return { sessions, ...found, totals, pending: sum(parts, ({ pending }) => pending) }
}

/**
 * Reads the lists of the words for all sessions at once, and of sessions only the best, so that the
 * number of sessions does not matter. A filter may reject any of them: then all are ranked.
 */
function* gatherRange(
  query: Query,
  { wants, totals, behind }: SearchedRange,
  isFiltered: boolean,
): SearchSteps<Gathered | null> {
  const parts = yield* partsOf(behind, UNINDEXED_READ_MAX)
  const spoken = new Set([...totals.languages, ...parts.flatMap(({ index }) => index.languages)])
  const live = totals.live + sum(parts, (part) => part.live - part.index.live)
  const distinctSum =
    totals.distinctSum + sum(parts, (part) => part.distinctSum - part.index.distinctSum)
  const question = questionOf(query.text, spoken)
  if (question.length === 0) return null
  const words = yield* findWords(question, wants, parts, live <= CORRECTED_PASSAGES_MAX)
  const weighed = words.map(({ places, weight }) => {
    return { places, weight: weight * idfIn(live, places.length) }
  })
  const best = isFiltered ? holdingSessions(weighed) : bestSessions(weighed, RANKED_SESSIONS_MAX)
  const known = new Set(parts.map(({ n }) => n))
  const numbers = best.filter((n) => !known.has(n))
  const read = numbers.length === 0 ? [] : yield* lookUp({ want: 'sessions', numbers })
  const others = read.map((searched, at) => partOf(searched, behind.length + at))
  const chosen = new Set(best)
  const holding = [...parts.filter(({ n }) => chosen.has(n)), ...others].sort((a, b) => a.n - b.n)
  return {
    ...{ sessions: [...behind, ...read], holding, totals: { live, distinctSum } },
    termsIn: (table, ends) => termsOf(words, holding, table, ends),
    pending: sum(parts, ({ pending }) => pending),
  }
}

/** The search algorithm, independent of where rows are stored. */
export function* search(
  query: Query,
  searched: readonly Searched[] | SearchedRange,
  { stored, cache, budget }: SearchOptions,
): SearchSteps<SearchAnswer> {
  const { limit, skip = 0 } = query
  const phrases = phrasesIn(query)
  const verify = verifier(query, phrases)
  const isFiltered = verify !== null || isFilteredByEntry(query)
  const gathered =
    'wants' in searched
      ? yield* gatherRange(query, searched, isFiltered)
      : yield* gather(query, searched, stored)
  if (gathered === null) return { hits: [], total: 0, pending: 0, unembedded: 0 }
  const { sessions, holding, termsIn, totals, pending } = gathered
  const { columns, starts } = yield* columnsOf(holding, sessions, cache)
  const table = new PassageTable(columns, starts, totals)
  const meaning = phrases.length === 0 ? query.meaning : undefined
  const spellings = spellingsIn(query.text)
  const compared = spellings.length > 0 ? COMPARED_MAX : 0
  const wanted = Math.min(limit, LIST_MAX)
  const depth = Math.max(skip + wanted, meaning === undefined ? 0 : FUSED_DEPTH)
  const places = holding.map(({ session }) => session)
  const lasts = places.map((place) => lastOf(query, sessions[place] as Searched))
  // Passages after the last entry must not raise those before it.
  const ends = lasts.map((last, place) => table.endOf(place, last))
  const isOne = places.length === 1
  const end = isOne ? (ends[0] as number) : table.slots
  const { best: ranked, total } = rankPassages(
    table,
    {
      terms: termsIn(table, ends),
      end,
      near: query.near === true && verify === null,
      accepts: entryFilter(query, table, isOne ? null : lasts),
      times: stretchesIn(query.text, spanOf(table)),
      limit: verify === null ? Math.max(depth, compared) : VERIFIED_MAX,
    },
    budget,
  )
  const found = { query, sessions, places, table, spellings }
  const best = compared > 0 ? yield* spelledFirst(found, ranked) : ranked
  const byWords = best.map((each) => placedOf(found, each))
  const matched = verify === null ? byWords : yield* accepted(found, byWords, verify, depth)
  const counted = verify === null ? total : matched.length
  if (meaning === undefined) {
    const hits = yield* hitsOf(found, matched.slice(skip, skip + wanted))
    return { hits, total: counted, pending, unembedded: 0 }
  }
  const shown = sessions.map((session) => session.after + lastOf(query, session))
  const near = yield* nearestTo(meaning, sessions, shown)
  const accepts = storedFilter(query, verify)
  const byMeaning = yield* accepted(found, near.entries, accepts, NEAREST_SHOWN_MAX)
  const fused = fuse(matched, byMeaning, ({ session, number }) => `${session} ${number}`)
  return {
    hits: yield* hitsOf(found, fused.slice(skip, skip + wanted)),
    total: Math.max(counted, fused.length),
    ...{ pending, unembedded: near.unembedded },
  }
}

/** The first so many that are accepted. */
function* accepted(
  found: Found,
  placed: readonly PlacedEntry[],
  accepts: Verify,
  most: number,
): SearchSteps<readonly PlacedEntry[]> {
  const matched: PlacedEntry[] = []
  for (let from = 0; from < placed.length && matched.length < most; from += VERIFY_PAGE) {
    for (const { each, hit } of yield* readHits(found, placed.slice(from, from + VERIFY_PAGE))) {
      if (yield* accepts(hit, each.session)) matched.push(each)
    }
  }
  return matched
}

function* partsOf(
  sessions: readonly Searched[],
  readMax: number,
): SearchSteps<readonly SearchPart[]> {
  let left = readMax
  const ranges = sessions.flatMap(({ index, after, upto }, session) => {
    const indexed = after + index.upto
    const to = Math.min(upto, indexed + Math.min(left, UNINDEXED_READ_MAX))
    left -= Math.max(0, to - indexed)
    return to > indexed ? [{ session, from: indexed + 1, to }] : []
  })
  const read = ranges.length === 0 ? [] : yield* lookUp({ want: 'entries', ranges })
  const fresh = new Map(ranges.map(({ session }, at) => [session, read[at] ?? []]))
  return sessions.map((searched, session) => {
    const { index, after } = searched
    const none = partOf(searched, session)
    const entries = fresh.get(session) ?? []
    if (entries instanceof DamagedRowError && sessions.length === 1) throw entries
    if (entries instanceof DamagedRowError || entries.length === 0) return none
    const local = entries.map((entry) => renumbered(entry, after))
    const { state, lists, blocks } = indexBatch(index, null, local)
    return {
      ...none,
      ...{ index: { ...index, languages: state.languages } },
      ...{ live: state.live, distinctSum: state.distinctSum },
      ...{ fresh: lists, freshBlocks: [...blocks.values()] },
      pending: none.pending - (state.upto - index.upto),
    }
  })
}

/** A session without its unindexed entries. */
function partOf({ n, index, after, upto }: Searched, session: number): SearchPart {
  const { live, distinctSum } = index
  const pending = Math.max(0, upto - after - index.upto)
  const none = { fresh: new Map(), freshBlocks: [] }
  return { session, n, after, index, live, distinctSum, ...none, pending }
}

function* columnsOf(
  parts: readonly SearchPart[],
  sessions: readonly Searched[],
  cache: ColumnsCache | undefined,
): SearchSteps<{ readonly columns: PassageColumns; readonly starts: readonly SessionStart[] }> {
  const [only] = parts
  if (cache !== undefined && only !== undefined && parts.length === 1) {
    const { keeper } = sessions[only.session] as Searched
    const columns = yield* cache.columnsOf(keeper, only.session, only.index)
    columns.add(only.freshBlocks)
    return { columns, starts: [{ slot: 0, entry: 0 }] }
  }
  const indexed = parts.filter(({ index }) => index.upto > 0).map(({ session }) => session)
  const read =
    indexed.length === 0 ? [] : yield* lookUp({ want: 'blocks', sessions: indexed, from: 0 })
  const written = new Map(indexed.map((session, at) => [session, read[at] ?? []]))
  const columns = new PassageColumns()
  const starts = parts.map(({ session, index, freshBlocks }) => {
    const start = { slot: columns.slots, entry: columns.entries }
    const blocks = written.get(session)
    if (blocks !== undefined) columns.addIndexed(blocks, index)
    columns.add(freshBlocks)
    return start
  })
  return { columns, starts }
}

/** The last entry that may be found, by its number in the index. */
function lastOf({ sessionId, before }: Query, { id, after, upto }: Searched): number {
  const isLimited = before !== undefined && id === ownSession(sessionId)
  return Math.max(0, (isLimited ? Math.min(upto, before - 1) : upto) - after)
}

/** The times of the first and last passage. */
function spanOf(table: PassageTable): { readonly from: number; readonly to: number } {
  if (table.slots === 0) return { from: 0, to: 0 }
  const last = table.entryOf[table.slots - 1] as number
  return { from: table.timeOf(table.entryOf[0] as number), to: table.timeOf(last) }
}

interface Found {
  readonly query: Query
  readonly sessions: readonly Searched[]
  /** Indexes of the sessions in the table, in its order. */
  readonly places: readonly number[]
  readonly table: PassageTable
  readonly spellings: readonly string[]
}

/** Which of the sessions, the number that the entry has there, and its best passages. */
function placedOf({ sessions, places, table }: Found, { entry, passages }: Ranked): PlacedEntry {
  const { session: place, number } = table.identify(entry)
  const session = places[place] as number
  return {
    ...{ session, number: number + (sessions[session] as Searched).after },
    places: passages.map((passage) => table.placeOf(passage)),
  }
}

/** Entries that hold the identifiers and paths of the question as they are spelled come first. */
function* spelledFirst(found: Found, ranked: readonly Ranked[]): SearchSteps<readonly Ranked[]> {
  const first = ranked.slice(0, COMPARED_MAX)
  const of = first.map((each) => placedOf(found, each))
  const bodies = of.length === 0 ? [] : yield* lookUp({ want: 'bodies', of })
  const weighed = first.map((each, at) => {
    const text = searchedText({ body: bodies[at] ?? null })
    return { each, weight: spelledIn(text, found.spellings) }
  })
  weighed.sort((a, b) => b.weight - a.weight)
  return [...weighed.map(({ each }) => each), ...ranked.slice(COMPARED_MAX)]
}

function* hitsOf(found: Found, placed: readonly PlacedEntry[]): SearchSteps<readonly SearchHit[]> {
  return (yield* readHits(found, placed)).map(({ hit }) => hit)
}

function* readHits(
  found: Found,
  placed: readonly PlacedEntry[],
): SearchSteps<readonly { readonly each: PlacedEntry; readonly hit: SearchHit }[]> {
  const { sessions, spellings } = found
  const { neighbours } = found.query
  const ranges = placed.map(({ session, number }) => {
    const { upto } = sessions[session] as Searched
    const from = Math.max(1, number - neighbours)
    return { session, number, from, to: Math.min(upto, number + neighbours) }
  })
  if (ranges.length === 0) return []
  const read = yield* lookUp({ want: 'entries', ranges })
  return placed.flatMap((each, at) => {
    const { session, number } = ranges[at] as (typeof ranges)[number]
    const near = read[at] ?? []
    if (near instanceof DamagedRowError) {
      // Damage in one session must not hide results of others; the health report shows it.
      if (sessions.length === 1) throw near
      return []
    }
    const entry = near.find((one) => one.number === number)
    if (entry === undefined) return []
    const hit = {
      sessionId: (sessions[session] as Searched).id,
      entry,
      excerpt: excerptOf(entry, each.places, spellings),
      before: near.filter((one) => one.number < number),
      after: near.filter((one) => one.number > number),
    }
    return [{ each, hit }]
  })
}

/** The passages, with an ellipsis between those that are not adjacent. */
function excerptOf(entry: Entry, best: readonly number[], spellings: readonly string[]): string {
  const texts = cutPassages(searchedText(entry))
  const places = spellings.length > 0 ? spelledPlaces(texts, best, spellings) : best
  return places
    .map((place, at) => {
      const isBehindGap = at > 0 && places[at - 1] !== place - 1
      return `${isBehindGap ? ' … ' : ''}${texts[place] ?? ''}`
    })
    .join('')
    .trim()
}

/** The best passages, unless another one holds more of the identifiers as they are spelled. */
function spelledPlaces(
  texts: readonly string[],
  best: readonly number[],
  spellings: readonly string[],
): readonly number[] {
  const weights = texts.map((text) => spelledIn(text, spellings))
  const most = weights.reduce((a, b) => Math.max(a, b), 0)
  return best.some((place) => weights[place] === most) ? best : [weights.indexOf(most)]
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
