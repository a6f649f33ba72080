import type { Meaning } from '../../vector-rows.ts'
import { type EmbeddedEntry, lookUp, type SearchSteps } from '../lookup.ts'
import type { SearchedStretch } from '../parts.ts'
import { cosineTo } from './packed-vectors.ts'

/** An entry, and the places of its best passages. */
export interface PlacedEntry {
  readonly session: number
  readonly number: number
  readonly places: readonly number[]
}

export interface Nearest {
  /** Nearest first. */
  readonly entries: readonly PlacedEntry[]
  /** Entries that have no vectors of this model yet. */
  readonly unembedded: number
}

/** So many of the nearest are looked at. */
const NEAREST_MAX = 500
/**
 * The cosines of unrelated vectors are scattered around 0 by 1 / √dimension: one in 700 is above
 * three times that.
 */
const NOISE = 3

/** The entries that are nearest to a question in meaning. `lasts`: the last that each session shows. */
export function* nearestTo(
  { model, vector }: Meaning,
  sessions: readonly SearchedStretch[],
  lasts: readonly number[],
): SearchSteps<Nearest> {
  const of = sessions.map((_, session) => session)
  const read = yield* lookUp({ want: 'vectors', of, model, dimension: vector.length })
  const cosine = cosineTo(vector)
  const noise = NOISE / Math.sqrt(vector.length)
  const found: (PlacedEntry & { readonly weight: number })[] = []
  let unembedded = 0
  for (const [session, { after, upto: tail }] of sessions.entries()) {
    const { upto, entries } = read[session] ?? { upto: 0, entries: [] }
    unembedded += Math.max(0, tail - Math.max(after, upto))
    for (const entry of entries) {
      if (entry.number <= after || entry.number > (lasts[session] as number)) continue
      const { place, weight } = bestOf(cosine, vector.length, entry)
      if (weight > noise) found.push({ session, number: entry.number, places: [place], weight })
    }
  }
  found.sort((a, b) => b.weight - a.weight || b.session - a.session || b.number - a.number)
  return { entries: found.slice(0, NEAREST_MAX), unembedded }
}

function bestOf(
  cosine: ReturnType<typeof cosineTo>,
  dimension: number,
  { bytes }: EmbeddedEntry,
): { place: number; weight: number } {
  const packed = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  let best = { place: 0, weight: Number.NEGATIVE_INFINITY }
  for (let place = 0; (place + 1) * dimension <= packed.length; place++) {
    const weight = cosine(packed, place)
    if (weight > best.weight) best = { place, weight }
  }
  return best
}
