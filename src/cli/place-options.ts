import type { Command } from 'commander'
import { addConfigOptions, type ConfigFlags } from './config-options.ts'

/** Which store and which configuration a command acts on. */
export interface PlaceFlags extends ConfigFlags {
  readonly store?: string
}

export function addPlaceOptions(command: Command): Command {
  return addConfigOptions(
    command
      .optionsGroup('Where:')
      .option('--store <place>', 'a SQLite file or a postgres:// address; else as configured'),
  )
}
