import type { PassageTable } from '../passage-table.ts'
import { firstOf } from './first-of.ts'
import { Scratch } from './scratch.ts'

/**
 * The order of hits, for every engine: which passages contain the words of a question, and which
 * are close to such passages. A word counts once per passage; words of neighbouring passages count
 * too, less with distance. Frequencies are counted over everything searched, so that a word's
 * weight does not depend on the other words of the question.
 */
const LENGTH_BASE = 0.6
const LENGTH_SHARE = 0.4
/** The weight of a word in an earlier passage, and in a later one. */
const EARLIER_WEIGHT = 0.4
const LATER_WEIGHT = 0.3
const FADE_WORDS = 60
const WEIGHT_MIN = 0.03
const REACH_PASSAGES = 8
/** A word in more than this share of passages says nothing about those around it. */
const CONTEXT_SHARE_MAX = 0.3
const CONTEXT_PASSAGES_MIN = 4
const ENTRY_PENALTY = 0.1
/** The gain of a passage that contains every word itself; proportional for some of them. */
const HELD_GAIN = 0.2
/** Above any score: each word adds less than 2.4 times its weight, a date less than 1.2 times. */
const AHEAD = 4
/** Only the best entries show a second passage, since it takes space from other entries. */
const TWO_PASSAGES_ENTRIES = 3
/** Longer questions were pasted: most identifiers in them are not part of the question. */
const NAMED_WORDS_MAX = 12

/**
 * For long lists: this many postings score every passage, the others only the best ones. Two words
 * are always scored everywhere; one with more postings than `spread` counts there only in passages
 * that contain it.
 */
export interface RankBudget {
  readonly postings: number
  readonly passages: number
  readonly spread: number
}
export const RANK_BUDGET: RankBudget = { postings: 5_000, passages: 1_000, spread: 10_000 }

/** One word of a question: its passages in ascending order, and its weight. */
export interface Term {
  readonly postings: Uint32Array
  /** How many passages of everything searched contain it; more than the postings if these are chosen. */
  readonly frequency: number
  readonly weight: number
  /** An identifier: a question that names one asks about it. */
  readonly isName: boolean
}

export interface RankQuery {
  readonly terms: readonly Term[]
  /** Also find entries without any of the words, next to entries with them. */
  readonly near: boolean
  /** Passages from here on are ignored. */
  readonly end: number
  readonly accepts: ((entry: number) => boolean) | null
  /** Entries in these ranges gain the mean weight of a word. */
  readonly times: readonly { readonly from: number; readonly to: number }[]
  readonly limit: number
}

export interface Ranked {
  /** An index into the table's entries. */
  readonly entry: number
  /** The best, and any other with every word or name of the question, in text order. */
  readonly passages: readonly number[]
  readonly score: number
}

const FADE = Float64Array.from({ length: 256 }, (_, words) => Math.exp(-words / FADE_WORDS))
/** Beyond this many words, a weight is too small to count. */
const WORDS_AFTER = Math.floor(-FADE_WORDS * Math.log(WEIGHT_MIN / EARLIER_WEIGHT))
const WORDS_BEFORE = Math.floor(-FADE_WORDS * Math.log(WEIGHT_MIN / LATER_WEIGHT))

export function rankPassages(
  table: PassageTable,
  query: RankQuery,
  budget: RankBudget = RANK_BUDGET,
): { readonly best: readonly Ranked[]; readonly total: number } {
  const scores = new Scores(table)
  const weighed = query.terms
    .filter(({ frequency }) => frequency > 0)
    .map((term, index) => ({ ...term, index, idf: idfOf(term, table) }))
    .sort((a, b) => a.frequency - b.frequency || a.index - b.index)
  let spent = 0
  let isChosen = false
  for (const [index, term] of weighed.entries()) {
    spent += term.postings.length
    const weighted = { ...term, weight: term.idf * term.weight }
    if (index < 2 || spent <= budget.postings) {
      scores.add(weighted, term.postings.length <= budget.spread)
      continue
    }
    if (!isChosen) scores.choose(budget.passages)
    isChosen = true
    scores.addToChosen(weighted)
  }
  if (query.times.length > 0 && weighed.length > 0) {
    const bonus = weighed.reduce((sum, { idf }) => sum + idf, 0) / weighed.length
    scores.addTimes(query.times, bonus)
  }
  return scores.ranked(query)
}

function idfOf({ frequency }: Term, { live }: PassageTable): number {
  return idfIn(live, frequency)
}

/** The weight of a word that so many of the passages contain. */
export function idfIn(live: number, frequency: number): number {
  return Math.log(1 + Math.max(0, live - frequency + 0.5) / (frequency + 0.5))
}

const scratch = new Scratch()

/** The passages reached so far, and their scores. */
class Scores {
  readonly #table: PassageTable
  readonly #scratch: Scratch
  readonly #perRoot: number
  #touched = 0
  #words = 0
  #names = 0
  #weights = 0
  /** The passages of the session that was scored last. */
  #first = 0
  #end = 0
  /**
   * The chosen passages, ascending. Each has pairs up to its end: itself first, then those that raise
   * it, by their place among all that do (`#near`), with the weight of a word there.
   */
  #chosen = new Uint32Array(0)
  #ends = new Uint32Array(0)
  readonly #near: number[] = []
  /** Which of these contain the word being added. */
  #isHeld = new Uint8Array(0)

  constructor(table: PassageTable) {
    this.#table = table
    this.#perRoot = LENGTH_SHARE / Math.max(1, table.distinctSum / Math.max(1, table.live))
    this.#scratch = scratch.fit(table)
  }

  add(term: Term, spreads: boolean): void {
    const { lengths } = this.#table
    const { presence, cells, heldWords, heldNames, score, touched } = this.#scratch
    const { postings, weight, isName } = term
    this.#count(term)
    const isSpread = spreads && this.#raisesOthers(term)
    let count = 0
    for (let index = 0; index < postings.length; index++) {
      const at = postings[index] as number
      const held = 1 / (LENGTH_BASE + this.#perRoot * (lengths[at * 2 + 1] as number))
      if (presence[at] === 0) cells[count++] = at
      presence[at] = (presence[at] as number) + held
      heldWords[at] = (heldWords[at] as number) + 1
      if (isName) heldNames[at] = (heldNames[at] as number) + 1
      if (!isSpread) continue
      if (at < this.#first || at >= this.#end) [this.#first, this.#end] = this.#table.rangeOf(at)
      count = this.#spread(at, 1, held * EARLIER_WEIGHT, count)
      count = this.#spread(at, -1, held * LATER_WEIGHT, count)
    }
    for (let index = 0; index < count; index++) {
      const cell = cells[index] as number
      const a = presence[cell] as number
      if (score[cell] === 0) touched[this.#touched++] = cell
      score[cell] = (score[cell] as number) + (weight * 2 * a) / (a + 1)
      presence[cell] = 0
    }
  }

  #count({ weight, isName }: Term): void {
    this.#words++
    if (isName) this.#names++
    this.#weights += weight
  }

  #raisesOthers({ frequency }: Term): boolean {
    return frequency < Math.max(CONTEXT_PASSAGES_MIN, this.#table.live * CONTEXT_SHARE_MAX)
  }

  /** Adds a passage's weight to those on one side of it; returns how many cells are in use. */
  #spread(at: number, step: 1 | -1, held: number, used: number): number {
    const { lengths } = this.#table
    const { presence, cells } = this.#scratch
    const end = step === 1 ? this.#end : this.#first - 1
    const words = step === 1 ? WORDS_AFTER : WORDS_BEFORE
    let count = used
    let between = 0
    let passages = 0
    for (let cell = at + step; cell !== end && between <= words; cell += step) {
      if (lengths[cell * 2 + 1] === 0) continue
      if (++passages > REACH_PASSAGES) break
      const known = presence[cell] as number
      if (known === 0) cells[count++] = cell
      presence[cell] = known + (FADE[between] as number) * held
      between += lengths[cell * 2] as number
    }
    return count
  }

  /** Chooses the passages that can still win; only these get the words that follow. */
  choose(most: number): void {
    const touched = this.#scratch.touched.subarray(0, this.#touched)
    this.#chosen = Uint32Array.from(firstOf(touched, most, this.#scratch.score)).sort()
    this.#ends = new Uint32Array(this.#chosen.length)
    this.#scratch.fitPairs(this.#chosen.length * (2 * REACH_PASSAGES + 1))
    let end = 0
    for (const [index, at] of this.#chosen.entries()) {
      if (at < this.#first || at >= this.#end) [this.#first, this.#end] = this.#table.rangeOf(at)
      end = this.#pair(at, 1, end)
      end = this.#gather(at, -1, end)
      end = this.#gather(at, 1, end)
      this.#ends[index] = end
    }
    this.#isHeld = new Uint8Array(this.#near.length)
  }

  /** The passages on one side of a chosen one that raise it: `#spread`, seen from the other end. */
  #gather(at: number, step: 1 | -1, from: number): number {
    const { lengths } = this.#table
    const end = step === 1 ? this.#end : this.#first - 1
    const words = step === 1 ? WORDS_BEFORE : WORDS_AFTER
    const weight = step === 1 ? LATER_WEIGHT : EARLIER_WEIGHT
    let pairs = from
    let between = 0
    let passages = 0
    for (let cell = at + step; cell !== end && between <= words; cell += step) {
      if (lengths[cell * 2 + 1] === 0) continue
      if (++passages > REACH_PASSAGES) break
      pairs = this.#pair(cell, weight * (FADE[between] as number), pairs)
      between += lengths[cell * 2] as number
    }
    return pairs
  }

  #pair(cell: number, weight: number, at: number): number {
    const { nearPlace, pairPlaces, pairWeights } = this.#scratch
    const distinct = this.#table.lengths[cell * 2 + 1] as number
    if (nearPlace[cell] === 0) nearPlace[cell] = this.#near.push(cell)
    pairPlaces[at] = (nearPlace[cell] as number) - 1
    pairWeights[at] = weight / (LENGTH_BASE + this.#perRoot * distinct)
    return at + 1
  }

  addToChosen(term: Term): void {
    const { heldWords, heldNames, score, nearPlace } = this.#scratch
    const { pairPlaces: places, pairWeights: weights } = this.#scratch
    const { postings, weight, isName } = term
    const isHeld = this.#isHeld
    this.#count(term)
    isHeld.fill(0)
    for (let index = 0; index < postings.length; index++) {
      const place = nearPlace[postings[index] as number] as number
      if (place !== 0) isHeld[place - 1] = 1
    }
    const isSpread = this.#raisesOthers(term)
    for (let index = 0, pair = 0; index < this.#chosen.length; index++) {
      const cell = this.#chosen[index] as number
      const end = this.#ends[index] as number
      let a = 0
      if (isHeld[places[pair] as number] === 1) {
        a = weights[pair] as number
        heldWords[cell] = (heldWords[cell] as number) + 1
        if (isName) heldNames[cell] = (heldNames[cell] as number) + 1
      }
      if (isSpread) {
        while (++pair < end) {
          if (isHeld[places[pair] as number] === 1) a += weights[pair] as number
        }
      }
      pair = end
      if (a > 0) score[cell] = (score[cell] as number) + (weight * 2 * a) / (a + 1)
    }
  }

  addTimes(times: RankQuery['times'], bonus: number): void {
    const { score, touched } = this.#scratch
    for (const cell of touched.subarray(0, this.#touched)) {
      const at = this.#table.timeOf(this.#table.entryOf[cell] as number)
      const isMeant = times.some(({ from, to }) => at >= from && at < to)
      if (isMeant) score[cell] = (score[cell] as number) + bonus
    }
  }

  #finalScore(passage: number, penalty: number): number {
    const words = this.#scratch.heldWords[passage] as number
    const score = (this.#scratch.score[passage] as number) / penalty
    // Most passages contain no word, but a neighbour does.
    if (words === 0) return score
    const ahead = this.#completeness(passage) * AHEAD * this.#weights
    return score * (1 + (HELD_GAIN * words) / this.#words) + ahead
  }

  /**
   * Many neighbours that share common words must not hide the one entry that was asked for:
   * passages with every word of the question (2) come first, then those with all its identifiers
   * (1).
   */
  #completeness(passage: number): 0 | 1 | 2 {
    const { heldWords, heldNames } = this.#scratch
    if (heldWords[passage] === this.#words) return 2
    if (this.#names === 0 || this.#words > NAMED_WORDS_MAX) return 0
    return heldNames[passage] === this.#names ? 1 : 0
  }

  /**
   * The best passages of each entry, best entry first, of equals the newer. Call it last: it clears
   * the cells.
   */
  ranked({ near, end, accepts, limit }: RankQuery): {
    readonly best: readonly Ranked[]
    readonly total: number
  } {
    const { score: scores, heldWords, bestScore, bestPassage, isHolding } = this.#scratch
    const touched = this.#scratch.touched.subarray(0, this.#touched)
    const { entryOf, counts } = this.#table
    const found: number[] = []
    for (let index = 0; index < touched.length; index++) {
      const passage = touched[index] as number
      const entry = entryOf[passage] as number
      const score = this.#finalScore(passage, penaltyOf(counts[entry] as number))
      scores[passage] = score
      if (passage >= end) continue
      if (heldWords[passage] !== 0) isHolding[entry] = 1
      const known = bestScore[entry] as number
      if (known === 0) found.push(entry)
      if (score > known || (score === known && passage < (bestPassage[entry] as number))) {
        bestScore[entry] = score
        bestPassage[entry] = passage
      }
    }
    const accepted = found.filter(
      (entry) => (near || isHolding[entry] === 1) && (accepts === null || accepts(entry)),
    )
    const best = firstOf(accepted, limit, bestScore).map((entry, rank) => {
      const passage = bestPassage[entry] as number
      const passages = rank < TWO_PASSAGES_ENTRIES ? this.#shownOf(passage) : [passage]
      return { entry, passages, score: bestScore[entry] as number }
    })
    for (const entry of found) {
      bestScore[entry] = 0
      isHolding[entry] = 0
    }
    this.#clear(touched)
    return { best, total: accepted.length }
  }

  /**
   * Of passages with the same words the shortest ranks first, and it may say least: if an entry
   * mentions the subject twice, the other mention may be the answer, so both are shown.
   */
  #shownOf(best: number): readonly number[] {
    const { score } = this.#scratch
    const least = Math.max(1, this.#completeness(best))
    const [first, end] = this.#table.entryRangeOf(best)
    let second: number | null = null
    for (let passage = first; passage < end; passage++) {
      if (passage === best || this.#completeness(passage) < least) continue
      if (second === null || (score[passage] as number) > (score[second] as number)) {
        second = passage
      }
    }
    return second === null ? [best] : [best, second].sort((a, b) => a - b)
  }

  #clear(touched: Uint32Array): void {
    const { score, heldWords, heldNames, nearPlace } = this.#scratch
    for (let index = 0; index < touched.length; index++) {
      const passage = touched[index] as number
      score[passage] = 0
      heldWords[passage] = 0
      heldNames[passage] = 0
    }
    for (const passage of this.#near) nearPlace[passage] = 0
  }
}

const PENALTIES = Float64Array.from(
  { length: 1_024 },
  (_, passages) => 1 + ENTRY_PENALTY * Math.log(Math.max(1, passages)),
)

function penaltyOf(passages: number): number {
  return PENALTIES[Math.min(passages, PENALTIES.length - 1)] as number
}
