/**
 * How many values a property is tried with. `npm test` runs all day and tries a quarter, other ones
 * each time; `npm run test:full` and a test file that runs alone try all.
 */
export function tries(count: number): number {
  return process.env['THROUGHLINE_TEST_SHORT'] === undefined ? count : Math.ceil(count / 4)
}
