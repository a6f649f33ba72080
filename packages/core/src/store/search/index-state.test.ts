import { expect, it } from 'vitest'
import { dueMerge, type Run, withMerge, withRun } from './index-state.ts'

it.each([[1], [32], [1, 32], [32, 1, 1, 7]])(
  'merges runs of %j entries so that few are left and an entry is written few times',
  (...sizes) => {
    let runs: readonly Run[] = []
    let [entries, written, most] = [0, 0, 0]
    for (let round = 0; entries < 30_000; round++) {
      const size = sizes[round % sizes.length] as number
      runs = withRun(runs, size).runs
      entries += size
      for (let merge = dueMerge(runs); merge !== null; merge = dueMerge(runs)) {
        written += merge.inputs.reduce((sum, input) => sum + input.entries, 0)
        runs = withMerge(withMerge(runs, merge, false), merge, true)
      }
      most = Math.max(most, runs.length)
    }
    expect(runs.reduce((sum, run) => sum + run.entries, 0)).toBe(entries)
    expect(most).toBeLessThan(50)
    expect(written / entries).toBeLessThan(14)
  },
)
