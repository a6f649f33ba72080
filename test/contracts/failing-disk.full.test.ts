import { expect, it } from 'vitest'
import { runContract } from './benches/failing-disk.ts'

it.for([
  { failure: 'full', every: 4, code: 'store-full', least: 1_500 },
  { failure: 'write', every: 8, code: 'store-full', least: 500 },
  { failure: 'sync', every: 6, code: 'store-damaged', least: 200 },
] as const)(
  'a failing disk keeps the contract: $failure',
  async ({ failure, every, code, least }) => {
    const { failures, codes } = await runContract(failure, every, 0)
    expect(codes).toEqual([code])
    expect(failures).toBeGreaterThan(least)
  },
)
