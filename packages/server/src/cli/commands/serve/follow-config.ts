import { KnownError } from '#core/base/errors'
import type { ConfigChange } from '../../../host/config/compare.ts'
import type { Loaded } from '../../../host/config/load.ts'
import { problemText } from '../../../host/config/read/problem.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import type { Host } from '../../../host/open-host.ts'
import { printNotice } from '../../terminal/stderr.ts'

/**
 * Applies changes of the configuration file to the running process. Returns a function that stops
 * this.
 */
export async function followConfig(flags: StoreFlags, host: Host): Promise<() => void> {
  const { watchConfig } = await import('../../../host/config/watch.ts')
  const { storeRequest } = await import('../../../host/store-selection.ts')
  return watchConfig({
    load: storeRequest(flags),
    current: host.loaded,
    onChange: (loaded, change) => {
      apply(host, loaded, change)
      printWarnings(loaded.warnings)
    },
    onBroken: (problems) => {
      for (const problem of problems) printNotice(`configuration: ${problemText(problem)}`)
      printNotice('configuration: keeping the previous configuration.')
    },
  })
}

/** A warning may be about a variable that only this process lacks. */
export function printWarnings(warnings: Host['loaded']['warnings']): void {
  for (const warning of warnings) printNotice(`configuration: ${problemText(warning)}`)
}

function apply(host: Host, loaded: Loaded, { applies, needsRestart }: ConfigChange): void {
  if (applies.length > 0) {
    const before = namesOf(host)
    try {
      host.runtime.reconfigure(host.agentsFrom(loaded))
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      printNotice(`configuration: ${error.message}`)
      printNotice('configuration: keeping the previous configuration.')
      return
    }
    host.logger.setLevel(loaded.config.logging.level)
    printNotice(`configuration: changed ${applies.join(', ')}; in effect from the next turn on.`)
    const after = namesOf(host)
    for (const name of before.filter((each) => !after.includes(each))) {
      printNotice(
        `configuration: agent ${name} was removed; messages to its sessions wait until it is back.`,
      )
    }
  }
  if (needsRestart.length > 0) {
    printNotice(`configuration: ${needsRestart.join(', ')} needs a restart.`)
  }
}

function namesOf({ runtime }: Host): readonly string[] {
  return runtime.agents.map(({ name }) => name)
}
