import { describe, expect, it } from 'vitest'
import { STORE_CONTRACT } from '../../packages/core/src/store/contract-suite/store-contract.ts'
import { memoryBench } from './benches/memory.ts'
import { sqliteBench } from './benches/sqlite.ts'

const BENCHES = { memory: () => memoryBench(), sqlite: () => sqliteBench() }
const CASES_MIN = 150

describe.each(Object.entries(BENCHES))('store contract on %s', (_engine, openBench) => {
  describe.each(Object.entries(STORE_CONTRACT))('%s', (_theme, cases) => {
    it.each(cases.map((each) => [each.name, each] as const))('%s', async (_name, each) => {
      await using bench = await openBench()
      await each.run(bench)
    })
  })
})

it(`the contract has at least ${CASES_MIN} cases, each with a name of its own`, () => {
  const names = Object.values(STORE_CONTRACT).flatMap((cases) => cases.map(({ name }) => name))
  expect(names.length).toBeGreaterThanOrEqual(CASES_MIN)
  expect(new Set(names).size).toBe(names.length)
})
