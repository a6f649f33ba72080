import { describe, expect, it } from 'vitest'
import { STORE_CONTRACT } from '../../packages/core/src/store/contract-suite/store-contract.ts'
import { type Failure, type Faltering, openFaltering } from './benches/faltering.ts'
import { sqliteBench } from './benches/sqlite.ts'

/** Without the cases of several writers: those are about locks, not about the disk. */
const { concurrency: _, ...THEMES } = STORE_CONTRACT
const CASES = Object.values(THEMES).flatMap((cases) => [...cases])

/** Runs every nth case of the contract; returns the error codes that the disk's failures led to. */
async function runContract(failure: Failure, every: number) {
  const opened: Faltering[] = []
  const open = async ({ path }: { readonly path: string }) => {
    const faltering = openFaltering(path, failure)
    opened.push(faltering)
    return faltering.store
  }
  for (const { name, run } of CASES.filter((_each, index) => index % every === 0)) {
    await using bench = await sqliteBench(open)
    await run(bench).catch((error: unknown) => {
      throw new Error(name, { cause: error })
    })
  }
  const codes = new Set(opened.flatMap((each) => [...each.codes]))
  return { failures: opened.reduce((sum, each) => sum + each.failures(), 0), codes: [...codes] }
}

describe('a failing disk', () => {
  it('keeps the contract, full at each statement of each verb, one after another [I24, fault 62]', async () => {
    const { failures, codes } = await runContract('full', 4)
    expect(codes).toEqual(['store-full'])
    expect(failures).toBeGreaterThan(1_500)
  })

  it('keeps the contract, failing to write at each statement of each verb [I24, fault 64]', async () => {
    const { failures, codes } = await runContract('write', 8)
    expect(codes).toEqual(['store-full'])
    expect(failures).toBeGreaterThan(500)
  })

  it('keeps the contract, failing to sync each commit: nothing more is taken until a restart [I26, fault 64]', async () => {
    const { failures, codes } = await runContract('sync', 6)
    expect(codes).toEqual(['store-damaged'])
    expect(failures).toBeGreaterThan(200)
  })
})
