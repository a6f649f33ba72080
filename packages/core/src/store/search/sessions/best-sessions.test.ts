import { describe, expect, it } from 'vitest'
import { bestSessions, holdingSessions } from './best-sessions.ts'
import { SESSION_STRIDE } from './occurrences.ts'

/** A word and the passages that contain it, each given as session and number. */
function word(weight: number, ...places: readonly (readonly [number, number])[]) {
  const numbers = places.map(([session, passage]) => session * SESSION_STRIDE + passage)
  return { weight, places: Float64Array.from(numbers).sort() }
}

const everySession = (count: number, passage: number) =>
  Array.from({ length: count }, (_, at) => [at + 1, passage] as const)

describe('bestSessions', () => {
  it('keeps all sessions if they are few enough', () => {
    const words = [word(1, [3, 0], [9, 4]), word(1, [5, 7])]
    expect(bestSessions(words, 3)).toEqual([3, 5, 9])
    expect(holdingSessions(words)).toEqual([3, 5, 9])
  })

  it('prefers sessions where words occur close together, in any order of the words', () => {
    const common = word(1, ...everySession(50, 0))
    const rare = word(3, [7, 2], [8, 5_000], [20, 9])
    expect(bestSessions([common, rare], 1)).toEqual([7])
    expect(bestSessions([common, rare], 3)).toEqual([7, 8, 20])
    expect(bestSessions([rare, common], 2)).toEqual([7, 20])
  })

  it('weighs rare words more, and of equals takes the newer sessions', () => {
    const words = [word(1, ...everySession(50, 0)), word(9, [4, 0])]
    expect(bestSessions(words, 3)).toEqual([4, 49, 50])
  })

  it('counts a word that occurs again nearby, but not in the neighbouring session', () => {
    const last = SESSION_STRIDE - 1
    expect(bestSessions([word(1, [1, 0], [1, 1], [2, 0], [3, 0])], 1)).toEqual([1])
    // The end of one session and the beginning of the next are neighbours by number alone.
    const words = [word(1, [1, last], [4, 0]), word(1, [2, 0], [4, 12])]
    expect(bestSessions(words, 1)).toEqual([4])
  })

  it('counts a word that occurs at the edge of a bucket in the neighbouring bucket too', () => {
    const words = [word(1, [1, 0], [1, 8], [2, 0]), word(1, [1, 16], [2, 8])]
    expect(bestSessions(words, 1)).toEqual([1])
  })

  it('chooses by rare words when all have too many postings', () => {
    const frequent = word(0.1, ...everySession(30_000, 0))
    const rare = [word(2, [11, 0], [30, 0]), word(2, [11, 3], [31, 0])]
    expect(bestSessions([frequent, frequent, ...rare], 1)).toEqual([11])
  })
})
