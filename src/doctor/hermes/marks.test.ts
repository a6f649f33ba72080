import { describe, expect, it } from 'vitest'
import { Marks } from './marks.ts'
import { Recent } from './recent.ts'

describe('Marks', () => {
  it('hold what two maps of the newest ones hold', () => {
    // Multiples of a large prime below 2 ** 52: spread out, and each comes back a few times.
    const markAt = (step: number) => ((step * 7_919) % 1_801) * 2_147_483_647
    const [marks, recent] = [new Marks(), new Recent<number, boolean>(700)]
    for (let step = 0; step < 10_000; step++) {
      const mark = step % 3 === 0 ? markAt(step >> 2) : markAt(step)
      expect(marks.has(mark)).toBe(recent.get(mark) !== undefined)
      expect(marks.isLive(mark)).toBe(recent.get(mark) === true)
      const isLive = step % 5 < 3
      marks.note(mark, { state: isLive ? 'live' : 'archived' })
      if (isLive || recent.get(mark) === undefined) recent.set(mark, isLive)
    }
  })
})
