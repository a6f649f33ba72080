import { STORE_CONTRACT } from '../../../packages/core/src/store/contract-suite/store-contract.ts'
import { type Failure, type Faltering, openFaltering } from './faltering.ts'
import { sqliteBench } from './sqlite.ts'

/** Without the cases of several writers: those are about locks, not about the disk. */
const { concurrency: _, ...THEMES } = STORE_CONTRACT
const CASES = Object.values(THEMES).flatMap((cases) => [...cases])

/** Runs every nth of the cases, from the given one on; returns the error codes that the disk's failures led to. */
export async function runContract(
  failure: Failure,
  every: number,
  from: number,
  isChosen: (name: string) => boolean = () => true,
) {
  const opened: Faltering[] = []
  const open = async ({ path }: { readonly path: string }) => {
    const faltering = openFaltering(path, failure)
    opened.push(faltering)
    return faltering.store
  }
  const chosen = CASES.filter(({ name }) => isChosen(name))
  for (const { name, run } of chosen.filter((_each, index) => index % every === from)) {
    await using bench = await sqliteBench(open)
    await run(bench).catch((error: unknown) => {
      throw new Error(name, { cause: error })
    })
  }
  const codes = new Set(opened.flatMap((each) => [...each.codes]))
  return { failures: opened.reduce((sum, each) => sum + each.failures(), 0), codes: [...codes] }
}
