import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../../../host/errors.ts'
import type { Sabotage } from '../../../proof/rehearsal/terms.ts'

/**
 * Bugs planted on purpose: a rehearsal that cannot fail proves nothing. They live among the tests of
 * a clone, which the published package does not hold, and are loaded from there by path.
 */
export interface Sabotages {
  readonly list: readonly { readonly name: string; readonly story: string }[]
  /** Throws `UsageError` for a name that is not listed. */
  find(name: string): Sabotage
  /** What puts the planted rules into every thread of an agent. */
  environment(name: string): NodeJS.ProcessEnv
}

/** `from` is where this program is: the file that asks. Throws `UsageError` outside a clone. */
export async function findSabotages(from: string): Promise<Sabotages> {
  const url = new URL('../../../../../../test/rehearsal/sabotages.ts', from)
  // Built files have rules of their own, which a planted bug of the sources would not reach.
  if (!from.endsWith('.ts') || !existsSync(fileURLToPath(url))) {
    throw new UsageError(
      'The planted bugs are part of the tests, and this package comes without them. Clone the ' +
        'repository and run `npx throughline rehearse --sabotage list` there.',
    )
  }
  const { SABOTAGES, sabotageEnvironment } = await import(url.href)
  const list = SABOTAGES as Sabotages['list']
  return {
    list,
    find(name) {
      if (list.some((each) => each.name === name)) return { module: url.href, name }
      throw new UsageError(`There is no sabotage ${name}; --sabotage list names them.`)
    },
    environment: sabotageEnvironment as Sabotages['environment'],
  }
}
