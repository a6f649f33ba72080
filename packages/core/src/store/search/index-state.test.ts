import { expect, it } from 'vitest'
import { dueMerge, type IndexState, NO_INDEX, withMerge } from './index-state.ts'

it.each([[1], [32], [1, 32], [32, 1, 1, 7]])(
  'merges runs of %j entries so that few are left and an entry is written few times',
  (...sizes) => {
    let state: IndexState = NO_INDEX
    let [entries, written, most] = [0, 0, 0]
    for (let round = 0; entries < 30_000; round++) {
      const size = sizes[round % sizes.length] as number
      const id = Math.max(0, ...state.runs.map((run) => run.id)) + 1
      const run = { id, entries: size, from: entries, to: entries + size, into: null }
      state = { ...state, runs: [...state.runs, run] }
      entries += size
      for (let merge = dueMerge(state); merge !== null; merge = dueMerge(state)) {
        written += merge.inputs.reduce((sum, input) => sum + input.entries, 0)
        state = withMerge(withMerge(state, merge, false), merge, true)
      }
      most = Math.max(most, state.runs.length)
    }
    expect(state.runs.reduce((sum, run) => sum + run.entries, 0)).toBe(entries)
    expect(most).toBeLessThan(50)
    expect(written / entries).toBeLessThan(14)
  },
)
