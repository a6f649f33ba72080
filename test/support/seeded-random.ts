/** Numbers from 0 (inclusive) to 1 (exclusive); the same seed gives the same numbers. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * How many values a property is tried with. `npm test` runs all day and tries a quarter, other ones
 * each time; `npm run test:full` and a test file that runs alone try all.
 */
export function tries(count: number): number {
  return process.env['THROUGHLINE_TEST_SHORT'] === undefined ? count : Math.ceil(count / 4)
}
