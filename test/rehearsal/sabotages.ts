import type { Clock } from '../../packages/core/src/base/clock.ts'
import type { RuntimeOptions } from '../../packages/server/src/runtime/open-runtime.ts'
import { MUTANTS } from '../mutants/all.ts'
import { COMPOSITION } from '../simulation/composition.ts'
import { compositionWith, NOTHING } from './planted.ts'

/** The planted bugs for `throughline rehearse --sabotage`: all of the shared list, and none. */
export const SABOTAGES: readonly { readonly name: string; readonly story: string }[] = [
  ...MUTANTS.map(({ name, story }) => ({ name, story })),
  { name: NOTHING, story: 'Nothing is broken. The control: no law may be.' },
]

/** Rules run in the store's own threads, so they are planted in every thread before all else. */
export function sabotageEnvironment(name: string): NodeJS.ProcessEnv {
  const plant = new URL('./plant.ts', import.meta.url)
  return { NODE_OPTIONS: `--import=${plant.href}`, AGENT_MUTANT: name }
}

/** Everything else is handed to the runtime. */
export function plantSabotage(name: string): Pick<RuntimeOptions, 'seams'> & {
  readonly lease?: NonNullable<RuntimeOptions['lease']>
  readonly clock?: (clock: Clock) => Clock
} {
  const { store, steps, tools, writer, decisions, lease, isGone, leaseClock } =
    compositionWith(name)
  return {
    seams: { store, steps, tools, writer, decisions, isGone },
    ...(lease !== COMPOSITION.lease && { lease }),
    ...(leaseClock === 'wall' && { clock: (clock) => ({ ...clock, monotonic: clock.now }) }),
  }
}
