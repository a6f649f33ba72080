import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../../test/support/timing.ts'
import { PassageColumns, PassageTable } from '../passage-table.ts'
import { firstOf } from './first-of.ts'
import { type RankQuery, rankPassages, type Term } from './rank.ts'

describe('firstOf', () => {
  it.each([0, 1, 3, 50, 500])('finds the first %i of 300 as sorting them does', (count) => {
    let seed = 5
    const scores = Float64Array.from({ length: 300 }, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return seed % 9
    })
    const items = [...scores.keys()]
    const sorted = items.toSorted((a, b) => (scores[b] as number) - (scores[a] as number) || b - a)
    expect(firstOf(items, count, scores)).toEqual(sorted.slice(0, count))
  })
})

/** One session: per number one entry with that many passages, each of ten distinct words. */
function tableOf(passages: readonly number[]): PassageTable {
  const columns = new PassageColumns()
  const slots = passages.reduce((sum, count) => sum + count, 0)
  columns.slots = slots
  columns.entries = passages.length
  columns.lengths = new Uint8Array(2 * slots).fill(10)
  columns.entryOf = Uint32Array.from(passages.flatMap((count, at) => Array(count).fill(at)))
  columns.counts = Uint16Array.from(passages)
  columns.seconds = Uint32Array.from(passages.keys())
  columns.speakers = new Uint8Array(passages.length)
  return new PassageTable(columns, [{ slot: 0, entry: 0 }], {
    live: slots,
    distinctSum: 10 * slots,
  })
}

const term = (postings: readonly number[], isName = false): Term => ({
  ...{ postings: Uint32Array.from(postings), frequency: postings.length, weight: 1, isName },
})

function rank(table: PassageTable, terms: readonly Term[], more: Partial<RankQuery> = {}) {
  const query = { terms, near: false, end: table.slots, accepts: null, times: [], limit: 10 }
  const { best, total } = rankPassages(table, { ...query, ...more })
  return { places: best.map(({ entry, passages }) => [entry, ...passages]), total }
}

describe('rankPassages', () => {
  const pairs = tableOf([2, 2, 2, 2])
  const [even, odd] = [term([0, 2, 4, 6]), term([1, 3, 5, 7])]
  const first = [3, 2, 1, 0].map((entry) => [entry, 2 * entry])

  it.each([
    ['the earlier first', [even, odd]],
    ['the later first', [odd, even]],
  ])('prefers the earlier of equal passages and the newer of equal entries: %s', (_, terms) => {
    expect(rank(pairs, terms)).toEqual({ places: first, total: 4 })
  })

  it('lets a word raise its neighbours, unless it has too many postings for that', () => {
    const singles = tableOf(Array(20).fill(1))
    const words = [term([0, 1, 10])]
    const query = { terms: words, near: true, end: 20, accepts: null, times: [], limit: 20 }
    const budget = { postings: 10, passages: 10 }
    const found = (spread: number) => rankPassages(singles, query, { ...budget, spread }).total
    expect([found(3), found(2)]).toEqual([19, 3])
  })

  it('scores chosen passages the same as if it scored all of them', () => {
    const many = tableOf(Array(300).fill(1))
    let seed = 3
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return seed % below
    }
    for (let at = 0; at < many.slots; at++) {
      const isErased = random(9) === 0
      many.lengths[2 * at] = isErased ? 0 : 1 + random(80)
      many.lengths[2 * at + 1] = isErased ? 0 : 1 + random(20)
    }
    const words = [7, 5, 4, 3, 2].map((step) =>
      term(
        [...many.entryOf.keys()].filter((at) => many.lengths[2 * at] !== 0 && random(step) === 0),
        step === 4,
      ),
    )
    const query = { terms: words, near: true, end: 300, accepts: null, times: [], limit: 300 }
    const scoresWith = (postings: number) => {
      const budget = { postings, passages: 300, spread: 300 }
      const { best } = rankPassages(many, query, budget)
      return new Map(best.map(({ entry, score }) => [entry, score]))
    }
    const [everywhere, chosen] = [scoresWith(Number.POSITIVE_INFINITY), scoresWith(0)]
    expect(chosen.size).toBeGreaterThan(200)
    for (const [entry, score] of chosen) expect(score).toBeCloseTo(everywhere.get(entry) ?? 0, 9)
  })

  it('takes linear time for 32 words that occur in every passage', () => {
    const prepare = (size: number) => {
      const table = tableOf(Array(size).fill(1))
      const words = Array.from({ length: 32 }, () => term([...table.entryOf]))
      return () => rank(table, words, { near: true })
    }
    expect(costOfTenfold(prepare, { size: 2_000, floorMs: 1 })).toBeLessThan(15)
  })

  it('shows the better passage of an entry', () => {
    const both = [even, odd, term([1, 3, 5, 7])]
    expect(rank(pairs, both).places).toEqual(first.map(([entry, at = 0]) => [entry, at + 1]))
    expect(rank(pairs, [even, odd, term([0, 2, 4, 6])]).places).toEqual(first)
  })

  it('shows a second passage of an entry if it also contains every word, or every name', () => {
    const two = tableOf([3, 3])
    const [word, name] = [term([0, 2, 3]), term([0, 2, 4, 5], true)]
    expect(rank(two, [word, name]).places).toEqual([
      [0, 0, 2],
      [1, 4, 5],
    ])
    expect(rank(two, [word, term([0, 2, 4, 5])]).places).toEqual([
      [0, 0, 2],
      [1, 4],
    ])
    const all = term([...pairs.entryOf.keys()])
    expect(rank(pairs, [all]).places.map((places) => places.length)).toEqual([3, 3, 3, 2])
  })

  it('leaves out passages after the end, entries that are not accepted, and hits above the limit', () => {
    expect(rank(pairs, [even], { end: 6 })).toEqual({ places: first.slice(1), total: 3 })
    const accepts = (entry: number) => entry !== 2
    const others = first.filter(([entry]) => entry !== 2)
    expect(rank(pairs, [even], { accepts })).toEqual({ places: others, total: 3 })
    expect(rank(pairs, [even], { limit: 1 })).toEqual({ places: first.slice(0, 1), total: 4 })
    // Ignored passages must not affect the next question.
    expect(rank(pairs, [even])).toEqual({ places: first, total: 4 })
  })

  it('finds neighbours of a passage only with `near`, after the passage with the word', () => {
    const five = tableOf([1, 1, 1, 1, 1])
    expect(rank(five, [term([2])])).toEqual({ places: [[2, 2]], total: 1 })
    const near = rank(five, [term([2])], { near: true })
    expect(near.total).toBe(5)
    // A word counts more in an earlier passage than in a later one, and less with distance.
    expect(near.places.map(([entry]) => entry)).toEqual([2, 3, 4, 1, 0])
  })

  it('puts passages with every word first, then those with every name', () => {
    const nine = tableOf(Array(9).fill(1))
    const name = term([0, 1, 2, 3], true)
    const words = [term([1, 4, 5, 6]), term([1, 4, 5, 7])]
    const { places } = rank(nine, [name, ...words])
    expect(places[0]).toEqual([1, 1])
    expect(places.slice(1, 4).map(([entry]) => entry)).toEqual([3, 2, 0])
  })

  it('raises entries of the requested times', () => {
    const times = [{ from: 1_000, to: 2_000 }]
    expect(rank(pairs, [even], { times }).places.map(([entry]) => entry)).toEqual([1, 3, 2, 0])
  })
})
