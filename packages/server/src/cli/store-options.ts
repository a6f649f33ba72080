import type { Command } from 'commander'
import { addConfigOptions } from './config-options.ts'

export function addStoreOptions(command: Command): Command {
  return addConfigOptions(
    command
      .optionsGroup('Where:')
      .option('--store <path>', 'a SQLite file or a postgres:// address; default: as configured'),
  )
}
