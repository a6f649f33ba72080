import { expect, it } from 'vitest'
import { sessionId } from '../../../base/ids.ts'
import { type EmbeddedEntries, perform } from '../lookup.ts'
import { nearestTo } from './nearest.ts'
import { packVectors } from './packed-vectors.ts'

const DIMENSION = 64

/** A unit vector with this cosine to the first axis. */
function vector(cosine: number): Float32Array {
  const values = new Float32Array(DIMENSION)
  values[0] = cosine
  values[1] = Math.sqrt(1 - cosine * cosine)
  return values
}

/** Entries from 1, each with the cosines of its passages. */
function embedded(...entries: readonly (readonly number[])[]): EmbeddedEntries {
  const packed = entries.map((cosines, index) => ({
    number: index + 1,
    bytes: packVectors(cosines.map(vector), DIMENSION),
  }))
  return { upto: entries.length, entries: packed }
}

function nearest(read: readonly EmbeddedEntries[], { after = 0, upto = 9, last = 9 } = {}) {
  const ids = read.map((_, index) => sessionId(`s${index}`))
  const stretches = ids.map((id) => ({ id, keeper: id, after, upto }))
  const lasts = ids.map(() => last)
  return perform(nearestTo({ model: 'm', vector: vector(1) }, stretches, lasts), () => read)
}

it('puts the nearest first, each with its best passage, and leaves out the unrelated', () => {
  const { entries } = nearest([embedded([0.5], [0.1, 0.9]), embedded([0.2], [0.7])])
  expect(entries).toMatchObject([
    { session: 0, number: 2, places: [1] },
    { session: 1, number: 2, places: [0] },
    { session: 0, number: 1, places: [0] },
  ])
})

it('puts the newer of two equally near first', () => {
  const { entries } = nearest([embedded([0.8], [0.8]), embedded([0.8])])
  expect(entries.map(({ session, number }) => [session, number])).toEqual([
    [1, 1],
    [0, 2],
    [0, 1],
  ])
})

it('finds nothing outside the range, and counts entries without vectors', () => {
  const read = [embedded([0.8], [0.8], [0.8], [0.8])]
  const { entries, unembedded } = nearest(read, { after: 1, upto: 6, last: 3 })
  expect(entries.map(({ number }) => number)).toEqual([3, 2])
  expect(unembedded).toBe(2)
  expect(nearest(read, { after: 5, upto: 7 }).unembedded).toBe(2)
})
