import { seededRandom } from '../../support/seeded-random.ts'

/** A small generator of chance that a seed decides. */
export class Chance {
  readonly next: () => number

  constructor(seed: number) {
    this.next = seededRandom(seed)
  }

  /** Both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  holds(likelihood: number): boolean {
    return this.next() < likelihood
  }

  pick<T>(values: readonly T[]): T {
    const value = values[Math.floor(this.next() * values.length)]
    if (value === undefined) throw new Error('nothing to pick from')
    return value
  }

  hex(length: number): string {
    return Array.from({ length }, () => this.between(0, 15).toString(16)).join('')
  }
}
