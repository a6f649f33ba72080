import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../../../host/errors.ts'
import type { Sabotage } from '../../../rehearsal/terms.ts'

/**
 * Bugs planted on purpose: a rehearsal that cannot fail proves nothing. They are part of the tests,
 * which the published package does not contain, and are loaded from a clone by path.
 */
export interface Sabotages {
  readonly list: readonly { readonly name: string; readonly story: string }[]
  /** Throws `UsageError` for a name that is not listed. */
  find(name: string): Sabotage
  /** Arguments that load the planted rules into every thread of an agent. */
  environment(name: string): NodeJS.ProcessEnv
}

/** `from` is the address of the calling file. Throws `UsageError` outside a clone. */
export async function findSabotages(from: string): Promise<Sabotages> {
  const url = new URL('../../../../../../test/rehearsal/sabotages.ts', from)
  // Built files carry their own rules; a bug planted in the sources would not reach them.
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
