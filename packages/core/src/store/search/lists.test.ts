import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findItem, listItemsOf, mergePages, packLists, passagesOfItem, rootBytes } from './lists.ts'

const lists = fc
  .dictionary(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }).filter((root) => root.isWellFormed()),
    fc.uniqueArray(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 40 }),
    { maxKeys: 400 },
  )
  .map(
    (found) =>
      new Map(Object.entries(found).map(([root, list]) => [root, list.sort((a, b) => a - b)])),
  )

const decoder = new TextDecoder()
const read = (pages: readonly { readonly bytes: Uint8Array }[]) =>
  new Map(
    pages.flatMap(({ bytes }) =>
      [...listItemsOf(bytes)].map(
        (item) => [decoder.decode(item.root), [...passagesOfItem(item)]] as const,
      ),
    ),
  )

describe('pages of lists', () => {
  it('hold what was packed, each root once, in the order of its bytes', () => {
    fc.assert(
      fc.property(lists, (given) => {
        const pages = packLists(given)
        expect(read(pages)).toEqual(given)
        const roots = pages.flatMap(({ bytes }) =>
          [...listItemsOf(bytes)].map(({ root }) => Buffer.from(root)),
        )
        expect(roots).toEqual([...roots].sort(Buffer.compare))
        for (const [root, list] of given) {
          const key = rootBytes(root)
          const page = pages.findLast((each) => Buffer.compare(each.root, key) <= 0)
          const item = findItem(page?.bytes ?? new Uint8Array(0), key)
          expect(item && [...passagesOfItem(item)]).toEqual(list)
          expect(findItem(page?.bytes ?? new Uint8Array(0), rootBytes(`${root}!`))).toSatisfy(
            (found) => found === null || given.has(`${root}!`),
          )
        }
      }),
      { numRuns: 40 },
    )
  })

  it('are merged a few at a time, and nothing is lost or doubled', () => {
    fc.assert(
      fc.property(lists, lists, fc.integer({ min: 1, max: 4 }), (one, two, step) => {
        const later = new Map(
          [...two].map(([root, list]) => [root, list.map((each) => each + 400_001)]),
        )
        let runs = [one, later].map((each) => packLists(each))
        const merged = new Map<string, readonly number[]>()
        while (runs.some(({ length }) => length > 0)) {
          const inputs = runs.map((pages) => ({
            pages: pages.slice(0, step).map(({ bytes }) => bytes),
            isMore: pages.length > step,
          }))
          const result = mergePages(inputs)
          for (const [root, list] of read(result.merged)) {
            expect(merged.has(root)).toBe(false)
            merged.set(root, list)
          }
          runs = runs.map((pages, at) => [...(result.left[at] ?? []), ...pages.slice(step)])
        }
        const wanted = new Map<string, readonly number[]>(one)
        for (const [root, list] of later) wanted.set(root, [...(one.get(root) ?? []), ...list])
        expect(merged).toEqual(wanted)
      }),
      { numRuns: 40 },
    )
  })

  it('that were harmed end with an error, never in an endless loop', () => {
    const [page] = packLists(new Map([['orchid', [1, 2, 300]]]))
    const bytes = page?.bytes ?? new Uint8Array(0)
    for (let end = 1; end < bytes.length; end++) {
      expect(() => [...listItemsOf(bytes.subarray(0, end))].map(passagesOfItem)).toThrow(
        /search index/,
      )
    }
  })
})
