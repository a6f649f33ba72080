import { appendFileSync } from 'node:fs'

/**
 * Loaded into every process of a quick judgement before anything else. The sources hold many mutants
 * at once, each behind `globalThis.__mutated?.(ID)`; one of them is active at a time, or none.
 */
export interface Switch {
  /** 0: none. */
  active: number
  /** How often the active one was asked for; a loop that a mutant made endless ends by it. */
  calls: number
  /** Mutants whose place was reached since this was emptied. */
  readonly reached: Set<number>
}

/** The most often that a test reaches one place is some 100,000 times. */
const CALLS_MAX = 5_000_000

const { THROUGHLINE_MUTANT: active = '0', THROUGHLINE_MUTANTS_REACHED: file } = process.env
const state: Switch = { active: Number(active), calls: 0, reached: new Set() }

Object.assign(globalThis, {
  __mutants: state,
  __mutated(id: number): boolean {
    if (!state.reached.has(id)) {
      state.reached.add(id)
      // The test learns of children and threads as well.
      if (file !== undefined) appendFileSync(file, `${id}\n`)
    }
    if (id !== state.active) return false
    state.calls += 1
    if (state.calls > CALLS_MAX) throw new Error('a mutant made a loop endless')
    return true
  },
})
