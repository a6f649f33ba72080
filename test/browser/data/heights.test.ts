import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Heights } from '../../../packages/dashboard/data/heights.ts'

const PAGE = 4
const ENTRY = 10

describe('Heights', () => {
  it('computes where each page begins, for any measured heights and a growing end', () => {
    const change = fc.oneof(
      fc.record({ kind: fc.constant('grow' as const), by: fc.nat(30) }),
      fc.record({ kind: fc.constant('measure' as const), page: fc.nat(40), height: fc.nat(200) }),
    )
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const heights = new Heights(PAGE, ENTRY)
        const measured = new Map<number, number>()
        let entries = 1
        heights.resize(entries)
        for (const each of changes) {
          if (each.kind === 'grow') entries += each.by
          else if (each.page < heights.pages) {
            measured.set(each.page, each.height)
            heights.measure(each.page, each.height)
          }
          heights.resize(entries)
        }
        let top = 0
        for (let page = 0; page < heights.pages; page++) {
          expect(heights.top(page)).toBe(top)
          const height = measured.get(page) ?? Math.min(PAGE, entries - page * PAGE) * ENTRY
          expect(heights.of(page)).toBe(height)
          if (height > 0) expect(heights.at(top)).toBe(page)
          top += height
        }
        expect(heights.top(heights.pages)).toBe(top)
      }),
      { seed: 8, numRuns: 300 },
    )
  })
})
