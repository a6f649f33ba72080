import type { PassageTable } from './blocks.ts'

/**
 * The order of hits, for every engine: which passages hold the words of a question, and which stand
 * close to passages that do. A word counts once per passage; what its neighbours hold counts too, and
 * fades with the words in between. Counts of passages are those of everything searched, so that a
 * word's weight does not depend on what else is asked.
 */
const LENGTH_BASE = 0.6
const LENGTH_SHARE = 0.4
/** Of a word in an earlier passage, and in a later one. */
const EARLIER_WEIGHT = 0.4
const LATER_WEIGHT = 0.3
const FADE_WORDS = 60
const WEIGHT_MIN = 0.03
const REACH_PASSAGES = 8
/** A word that is nearly everywhere says nothing about the passages around it. */
const CONTEXT_SHARE_MAX = 0.3
const CONTEXT_PASSAGES_MIN = 4
const ENTRY_PENALTY = 0.1

/** Of long lists: so many places are looked at for every passage, the others for the best passages. */
export interface RankBudget {
  readonly postings: number
  readonly passages: number
}
export const RANK_BUDGET: RankBudget = { postings: 20_000, passages: 2_000 }

/** One word of a question: where it stands, in ascending passages, and what it weighs. */
export interface Term {
  readonly postings: Uint32Array
  readonly weight: number
}

export interface RankQuery {
  readonly terms: readonly Term[]
  /** Entries that hold none of the words, but stand beside some that do. */
  readonly near: boolean
  /** Passages from here on are not there. */
  readonly end: number
  readonly accepts: ((entry: number) => boolean) | null
  /** Entries of these moments gain the mean weight of a word. */
  readonly times: readonly { readonly from: number; readonly to: number }[]
  readonly limit: number
}

export interface Ranked {
  /** An index into the table's entries. */
  readonly entry: number
  readonly passage: number
  readonly score: number
}

const FADE = Float64Array.from({ length: 256 }, (_, words) => Math.exp(-words / FADE_WORDS))

export function rankPassages(
  table: PassageTable,
  query: RankQuery,
  budget: RankBudget = RANK_BUDGET,
): { readonly best: readonly Ranked[]; readonly total: number } {
  const scores = new Scores(table)
  const weighed = query.terms
    .filter(({ postings }) => postings.length > 0)
    .map((term, index) => ({ ...term, index, idf: idfOf(term, table) }))
    .sort((a, b) => a.postings.length - b.postings.length || a.index - b.index)
  let spent = 0
  let candidates: Uint8Array | null = null
  for (const [index, term] of weighed.entries()) {
    spent += term.postings.length
    if (index >= 2 && spent > budget.postings) candidates ??= scores.best(budget.passages)
    scores.add(term.postings, term.idf * term.weight, candidates)
  }
  if (query.times.length > 0 && weighed.length > 0) {
    const bonus = weighed.reduce((sum, { idf }) => sum + idf, 0) / weighed.length
    scores.addTimes(query.times, bonus)
  }
  return scores.ranked(query)
}

function idfOf({ postings: { length } }: Term, { live }: PassageTable): number {
  return Math.log(1 + Math.max(0, live - length + 0.5) / (length + 0.5))
}

/** Scratch of one ranking: a cell for each passage, and the cells that are in use. */
class Scores {
  readonly #table: PassageTable
  readonly #meanDistinct: number
  readonly #score: Float64Array
  readonly #presence: Float64Array
  readonly #holds: Uint8Array
  #touched: number[] = []

  constructor(table: PassageTable) {
    this.#table = table
    this.#meanDistinct = Math.max(1, table.distinctSum / Math.max(1, table.live))
    this.#score = new Float64Array(table.slots)
    this.#presence = new Float64Array(table.slots)
    this.#holds = new Uint8Array(table.slots)
  }

  add(postings: Uint32Array, weight: number, only: Uint8Array | null): void {
    const { lengths, live } = this.#table
    const presence = this.#presence
    const isSpread = postings.length < Math.max(CONTEXT_PASSAGES_MIN, live * CONTEXT_SHARE_MAX)
    const cells: number[] = []
    for (const at of postings) {
      const held =
        1 / (LENGTH_BASE + (LENGTH_SHARE * (lengths[at * 2 + 1] as number)) / this.#meanDistinct)
      if (only === null || only[at] === 1) {
        if (presence[at] === 0) cells.push(at)
        presence[at] = (presence[at] as number) + held
        this.#holds[at] = 1
      }
      if (isSpread) this.#spread(at, held, only, cells)
    }
    const score = this.#score
    for (const cell of cells) {
      const a = presence[cell] as number
      if (score[cell] === 0) this.#touched.push(cell)
      score[cell] = (score[cell] as number) + (weight * 2 * a) / (a + 1)
      presence[cell] = 0
    }
  }

  #spread(at: number, held: number, only: Uint8Array | null, cells: number[]): void {
    const { lengths } = this.#table
    const [first, end] = this.#table.rangeOf(at)
    const presence = this.#presence
    for (const [step, base] of [
      [1, EARLIER_WEIGHT],
      [-1, LATER_WEIGHT],
    ] as const) {
      let between = 0
      let passages = 0
      for (let cell = at + step; cell >= first && cell < end; cell += step) {
        if (lengths[cell * 2 + 1] === 0) continue
        const weight = base * (FADE[Math.min(between, 255)] as number)
        if (weight < WEIGHT_MIN || ++passages > REACH_PASSAGES) break
        between += lengths[cell * 2] as number
        if (only !== null && only[cell] === 0) continue
        if (presence[cell] === 0) cells.push(cell)
        presence[cell] = (presence[cell] as number) + weight * held
      }
    }
  }

  addTimes(times: RankQuery['times'], bonus: number): void {
    const { entryOf } = this.#table
    const score = this.#score
    for (const cell of this.#touched) {
      const at = this.#table.timeOf(entryOf[cell] as number)
      if (times.some(({ from, to }) => at >= from && at < to)) {
        score[cell] = (score[cell] as number) + bonus
      }
    }
  }

  /** Marks the best passages so far. */
  best(count: number): Uint8Array {
    const marks = new Uint8Array(this.#table.slots)
    const score = this.#score
    const before = (a: number, b: number) => (score[b] as number) - (score[a] as number) || b - a
    for (const cell of firstOf(this.#touched, count, before)) marks[cell] = 1
    return marks
  }

  /** The best passage of each entry, the best entry first, of equals the newer. */
  ranked({ near, end, accepts, limit }: RankQuery): {
    readonly best: readonly Ranked[]
    readonly total: number
  } {
    const { entryOf } = this.#table
    const bestOf = new Map<number, Ranked>()
    const holding = new Set<number>()
    for (const passage of this.#touched) {
      if (passage >= end) continue
      const entry = entryOf[passage] as number
      if (this.#holds[passage] === 1) holding.add(entry)
      const penalty = 1 + ENTRY_PENALTY * Math.log(this.#table.passagesOf(entry))
      const score = (this.#score[passage] as number) / penalty
      const known = bestOf.get(entry)
      if (
        known === undefined ||
        score > known.score ||
        (score === known.score && passage < known.passage)
      ) {
        bestOf.set(entry, { entry, passage, score })
      }
    }
    const accepted = [...bestOf.values()].filter(
      ({ entry }) => (near || holding.has(entry)) && (accepts === null || accepts(entry)),
    )
    const before = (a: Ranked, b: Ranked) => b.score - a.score || b.entry - a.entry
    return { best: firstOf(accepted, limit, before), total: accepted.length }
  }
}

/** The first items of an order, sorted, without sorting the others. */
function firstOf<T>(items: readonly T[], count: number, before: (a: T, b: T) => number): T[] {
  if (items.length <= 4 * count) return [...items].sort(before).slice(0, count)
  let kept: T[] = []
  for (const item of items) {
    const last = kept.length >= count ? kept[count - 1] : undefined
    if (last !== undefined && before(item, last) >= 0) continue
    kept.push(item)
    if (kept.length >= 2 * count) kept = kept.sort(before).slice(0, count)
  }
  return kept.sort(before).slice(0, count)
}
