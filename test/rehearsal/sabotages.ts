import type { RuntimeOptions } from '../../src/runtime/open-runtime.ts'
import { MUTANTS } from '../mutants/all.ts'
import { plantMutant } from '../processes/planted.ts'
import { COMPOSITION } from '../simulation/composition.ts'

/**
 * The planted bugs for `throughline rehearse --sabotage`: those of the shared list that a rehearsal
 * was seen to find. Many of the others need what a rehearsal does not do (erasure, import, reverts,
 * pins, withdrawals, clocks that jump); most were never tried here. The simulation finds every one.
 */
const NAMES: readonly string[] = [
  'buffer-truncated',
  'compaction-under-other-context',
  'new-id-on-compaction',
  'one-commit-per-step',
  'operation-not-abandoned',
  'same-fence-on-acquire',
  'session-forked',
]

export const SABOTAGES: readonly { readonly name: string; readonly story: string }[] =
  MUTANTS.filter(({ name }) => NAMES.includes(name)).map(({ name, story }) => ({ name, story }))

/** Rules run in the store's own threads, so they are planted in every thread before all else. */
export function sabotageEnvironment(name: string): NodeJS.ProcessEnv {
  const plant = new URL('../processes/plant.ts', import.meta.url)
  return { NODE_OPTIONS: `--import=${plant.href}`, AGENT_MUTANT: name }
}

/** Everything else is handed to the runtime. */
export function plantSabotage(name: string): Pick<RuntimeOptions, 'seams'> & {
  readonly lease?: NonNullable<RuntimeOptions['lease']>
} {
  const { store, steps, tools, writer, decisions, lease } = plantMutant(name)
  const seams = { store, steps, tools, writer, decisions }
  return lease === COMPOSITION.lease ? { seams } : { seams, lease }
}
