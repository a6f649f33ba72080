import { firstOf } from '../ranking/first-of.ts'
import { SESSION_STRIDE } from './occurrences.ts'

/**
 * The sessions that most likely hold the best passages, found from the lists of the words alone:
 * where many and rare words of the question occur within a few passages. Only their passages are
 * then ranked, by their lengths and distances.
 */
const BUCKET_PASSAGES = 8
const BUCKETS_OF_SESSION = SESSION_STRIDE / BUCKET_PASSAGES
/** How much a word adds that occurs again in the same bucket or in a neighbouring one. */
const AGAIN = 0.35
/** So many postings choose the sessions, those of rare words first; two words always do. */
const POSTINGS_MAX = 20_000

export interface PlacedWord {
  /** Ascending. */
  readonly places: Float64Array
  readonly weight: number
}

/** Buckets in ascending order, with their scores. */
interface Buckets {
  readonly numbers: Float64Array
  readonly scores: Float64Array
}

/** The best sessions, ascending; of equals the newer ones. */
export function bestSessions(words: readonly PlacedWord[], most: number): readonly number[] {
  const rarest = words
    .filter(({ places }) => places.length > 0)
    .toSorted((a, b) => a.places.length - b.places.length)
  let spent = 0
  let buckets: Buckets = { numbers: new Float64Array(0), scores: new Float64Array(0) }
  for (const [index, word] of rarest.entries()) {
    spent += word.places.length
    if (index >= 2 && spent > POSTINGS_MAX) break
    buckets = sumOf(buckets, bucketsOf(word))
  }
  const sessions: number[] = []
  const scores: number[] = []
  // The first bucket behind the last session.
  let behind = 0
  for (let at = 0; at < buckets.numbers.length; at++) {
    const bucket = buckets.numbers[at] as number
    const score = buckets.scores[at] as number
    const last = sessions.length - 1
    if (bucket < behind) scores[last] = Math.max(scores[last] as number, score)
    else {
      const session = Math.floor(bucket / BUCKETS_OF_SESSION)
      behind = (session + 1) * BUCKETS_OF_SESSION
      sessions.push(session)
      scores.push(score)
    }
  }
  if (sessions.length <= most) return sessions
  const best = firstOf([...sessions.keys()], most, Float64Array.from(scores))
  return best.map((at) => sessions[at] as number).sort((a, b) => a - b)
}

/** Every session with one of the words, ascending. */
export function holdingSessions(words: readonly PlacedWord[]): readonly number[] {
  const found = new Set<number>()
  for (const { places } of words) {
    let next = 0
    for (const place of places) {
      if (place < next) continue
      const session = Math.floor(place / SESSION_STRIDE)
      found.add(session)
      next = (session + 1) * SESSION_STRIDE
    }
  }
  return [...found].sort((a, b) => a - b)
}

/** A word counts in its buckets and a little in their neighbours, more if it occurs again. */
function bucketsOf({ places, weight }: PlacedWord): Buckets {
  const numbers = new Float64Array(3 * places.length)
  const scores = new Float64Array(3 * places.length)
  let end = 0
  const add = (bucket: number, presence: number) => {
    // The last two may be the bucket itself and the one behind it.
    for (let at = end - 1; at >= 0 && at >= end - 2; at--) {
      if (numbers[at] !== bucket) continue
      scores[at] = (scores[at] as number) + presence
      return
    }
    numbers[end] = bucket
    scores[end++] = presence
  }
  for (let at = 0; at < places.length; ) {
    const bucket = Math.floor((places[at] as number) / BUCKET_PASSAGES)
    const next = (bucket + 1) * BUCKET_PASSAGES
    let count = 0
    while (at < places.length && (places[at] as number) < next) {
      at++
      count++
    }
    if (bucket % BUCKETS_OF_SESSION !== 0) add(bucket - 1, AGAIN * count)
    add(bucket, 1 + AGAIN * (count - 1))
    add(bucket + 1, AGAIN * count)
  }
  for (let at = 0; at < end; at++) {
    const presence = scores[at] as number
    scores[at] = (weight * 2 * presence) / (presence + 1)
  }
  return { numbers: numbers.subarray(0, end), scores: scores.subarray(0, end) }
}

function sumOf(a: Buckets, b: Buckets): Buckets {
  const numbers = new Float64Array(a.numbers.length + b.numbers.length)
  const scores = new Float64Array(numbers.length)
  let [atA, atB, end] = [0, 0, 0]
  while (atA < a.numbers.length || atB < b.numbers.length) {
    const nextA = a.numbers[atA] ?? Number.POSITIVE_INFINITY
    const nextB = b.numbers[atB] ?? Number.POSITIVE_INFINITY
    numbers[end] = Math.min(nextA, nextB)
    let score = 0
    if (nextA <= nextB) score += a.scores[atA++] as number
    if (nextB <= nextA) score += b.scores[atB++] as number
    scores[end++] = score
  }
  return { numbers: numbers.subarray(0, end), scores: scores.subarray(0, end) }
}
