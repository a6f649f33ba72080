import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  findPosting,
  keyOf,
  type ListPage,
  mergePages,
  packLists,
  passagesOfPosting,
  postingsOf,
  rootBytes,
  withoutPassages,
} from './lists.ts'
import { PassageColumns, PassageTable } from './passage-table.ts'
import { Occurrences, SESSION_STRIDE } from './sessions/occurrences.ts'
import { type SearchPart, termsOf } from './terms.ts'

/** Passages by root and session: the form of the index without bytes. */
type Plain = Record<string, readonly number[]>

const plain: fc.Arbitrary<Plain> = fc
  .uniqueArray(
    fc.tuple(
      fc
        .string({ unit: 'binary', minLength: 1, maxLength: 6 })
        .filter((root) => root.isWellFormed() && !root.includes('\0')),
      fc.integer({ min: 1, max: 5_000_000 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 40 }),
    ),
    { maxLength: 400, selector: ([root, session]) => `${root} ${session}` },
  )
  .chain((found) =>
    // The same roots in other sessions, too.
    fc.constant([
      ...found,
      ...found.map(([root, session, list]) => [root, session + 7, list] as const),
    ]),
  )
  .map((found) =>
    Object.fromEntries(
      found.map(([root, session, list]) => [
        JSON.stringify([root, session]),
        list.toSorted((a, b) => a - b),
      ]),
    ),
  )

const keysIn = (given: Plain) =>
  Object.keys(given).map((key) => JSON.parse(key) as [root: string, session: number])

function pack(given: Plain): readonly ListPage[] {
  const sessions = new Map<number, Map<string, readonly number[]>>()
  for (const [root, session] of keysIn(given)) {
    const lists = sessions.get(session) ?? new Map<string, readonly number[]>()
    lists.set(root, given[JSON.stringify([root, session])] ?? [])
    sessions.set(session, lists)
  }
  return packLists(sessions)
}

const decoder = new TextDecoder()
const read = (pages: readonly { readonly bytes: Uint8Array }[]): Plain =>
  Object.fromEntries(
    pages.flatMap(({ bytes }) =>
      [...postingsOf(bytes)].map((posting) => [
        JSON.stringify([decoder.decode(posting.root), posting.session]),
        [...passagesOfPosting(posting)],
      ]),
    ),
  )

const pageFor = (pages: readonly ListPage[], key: Uint8Array) =>
  pages.findLast((each) => Buffer.compare(each.key, key) <= 0)?.bytes ?? new Uint8Array(0)

describe('pages of lists', () => {
  it('return the packed lists in the order of their keys, and each list by its key', () => {
    fc.assert(
      fc.property(plain, (given) => {
        const pages = pack(given)
        expect(read(pages)).toEqual(given)
        const keys = pages.flatMap(({ bytes }) =>
          [...postingsOf(bytes)].map(({ root, session }) => Buffer.from(keyOf(root, session))),
        )
        expect(keys).toEqual(keys.toSorted(Buffer.compare))
        for (const [root, session] of keysIn(given)) {
          const bytes = rootBytes(root)
          const found = findPosting(pageFor(pages, keyOf(bytes, session)), bytes, session)
          expect(found && [...passagesOfPosting(found)]).toEqual(
            given[JSON.stringify([root, session])],
          )
          const other = findPosting(pageFor(pages, keyOf(bytes, session + 1)), bytes, session + 1)
          expect(other === null).toBe(given[JSON.stringify([root, session + 1])] === undefined)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('give the places of a root in all requested sessions', () => {
    fc.assert(
      fc.property(plain, (given) => {
        const pages = pack(given)
        for (const [root] of keysIn(given).slice(0, 5)) {
          const places = new Occurrences(pages.reduce((sum, { bytes }) => sum + bytes.length, 0))
          for (const { bytes } of pages) {
            places.read(bytes, rootBytes(root), (session) => session % 2 === 0)
          }
          const wanted = keysIn(given)
            .filter(([other, session]) => other === root && session % 2 === 0)
            .flatMap(([, session]) =>
              (given[JSON.stringify([root, session])] ?? []).map(
                (passage) => session * SESSION_STRIDE + passage,
              ),
            )
          expect([...places.end()]).toEqual(wanted.toSorted((a, b) => a - b))
        }
      }),
      { numRuns: 40 },
    )
  })

  it('are merged a few at a time without losing or repeating a posting', () => {
    fc.assert(
      fc.property(plain, plain, fc.integer({ min: 1, max: 4 }), (one, two, step) => {
        const later: Plain = Object.fromEntries(
          Object.entries(two).map(([key, list]) => [key, list.map((each) => each + 400_001)]),
        )
        let runs = [one, later].map(pack)
        const merged: Record<string, readonly number[]> = {}
        while (runs.some(({ length }) => length > 0)) {
          const inputs = runs.map((pages) => ({
            pages: pages.slice(0, step).map(({ bytes }) => bytes),
            isMore: pages.length > step,
          }))
          const result = mergePages(inputs)
          for (const [key, list] of Object.entries(read(result.merged))) {
            expect(merged[key]).toBeUndefined()
            merged[key] = list
          }
          runs = runs.map((pages, at) => [...(result.left[at] ?? []), ...pages.slice(step)])
        }
        const wanted: Record<string, readonly number[]> = { ...one }
        for (const [key, list] of Object.entries(later))
          wanted[key] = [...(one[key] ?? []), ...list]
        expect(merged).toEqual(wanted)
      }),
      { numRuns: 40 },
    )
  })

  it('lose the passages of one session, and no others', () => {
    const pages = pack({
      '["orchid",1]': [1, 2, 300],
      '["orchid",2]': [1, 2],
      '["rose",1]': [2],
      '["rose",3]': [2],
    })
    const left = pages.flatMap(({ bytes }) => withoutPassages(bytes, 1, (passage) => passage === 2))
    expect(read(left)).toEqual({
      '["orchid",1]': [1, 300],
      '["orchid",2]': [1, 2],
      '["rose",3]': [2],
    })
  })

  it('throw an error if truncated, and never loop endlessly', () => {
    const [page] = pack({ '["orchid",3]': [1, 2, 300] })
    const bytes = page?.bytes ?? new Uint8Array(0)
    for (let end = 1; end < bytes.length; end++) {
      expect(() => [...postingsOf(bytes.subarray(0, end))].map(passagesOfPosting)).toThrow(
        /search index/,
      )
    }
  })
})

it('the terms of some sessions are their passages in the table, each before the end of its session', () => {
  const columns = new PassageColumns()
  columns.slots = 6
  // Three passages of session 2 stand before three of session 5; session 3 is not searched.
  const holding = [{ n: 2 }, { n: 5 }] as unknown as readonly SearchPart[]
  const starts = [0, 3].map((slot) => ({ slot, entry: slot }))
  const table = new PassageTable(columns, starts, { live: 6, distinctSum: 6 })
  const places = Float64Array.from(
    [2, 3, 5].flatMap((n) => [0, 1, 2].map((passage) => n * SESSION_STRIDE + passage)),
  )
  const found = (...ends: number[]) =>
    termsOf([{ places, weight: 2, isName: true }], holding, table, ends).map(
      ({ postings, ...facts }) => ({ postings: [...postings], ...facts }),
    )
  const facts = { weight: 2, isName: true, frequency: 9 }
  expect(found(3, 6)).toEqual([{ postings: [0, 1, 2, 3, 4, 5], ...facts }])
  expect(found(2, 4)).toEqual([{ postings: [0, 1, 3], ...facts }])
})
