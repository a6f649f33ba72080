import { describe, expect, it } from 'vitest'
import { callMark, Marks } from './marks.ts'

/** At least the newest 700, at most twice as many, in two maps. */
class Model {
  #young = new Map<number, boolean>()
  #old = new Map<number, boolean>()

  get(mark: number): boolean | undefined {
    return this.#young.get(mark) ?? this.#old.get(mark)
  }

  set(mark: number, isLive: boolean): void {
    this.#young.set(mark, isLive)
    if (this.#young.size < 700) return
    this.#old = this.#young
    this.#young = new Map()
  }
}

describe('Marks', () => {
  it('hold what two maps of the newest ones hold', () => {
    // Multiples of a large prime below 2 ** 52: spread out, and each recurs a few times.
    const markAt = (step: number) => ((step * 7_919) % 1_801) * 2_147_483_647
    const [marks, model] = [new Marks(), new Model()]
    for (let step = 0; step < 10_000; step++) {
      const mark = step % 3 === 0 ? markAt(step >> 2) : markAt(step)
      expect(marks.has(mark)).toBe(model.get(mark) !== undefined)
      expect(marks.isLive(mark)).toBe(model.get(mark) === true)
      const isLive = step % 5 < 3
      marks.note(mark, { state: isLive ? 'live' : 'archived' })
      if (isLive || model.get(mark) === undefined) model.set(mark, isLive)
    }
  })

  it('distinguish calls whose ids begin alike', () => {
    const beginning = 'call_'.padEnd(200, 'x')
    expect(callMark(`${beginning}1`)).not.toBe(callMark(`${beginning}2`))
  })
})
