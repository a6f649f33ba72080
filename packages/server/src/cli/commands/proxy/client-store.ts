import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { makeFolder } from '#core/base/files/make-folder'
import type { StoreFlags } from '../../../host/flags.ts'
import { stateFolder, statePath } from '../../../host/operating-system.ts'

/**
 * Clients work in many folders, and their conversations belong to the user rather than to a
 * project: without `--store` they are kept in the user's own folder, whatever the configuration
 * says.
 */
export function clientStore({ store }: StoreFlags, name = 'clients.db'): string {
  if (store !== undefined) return store
  const path = join(stateFolder(), name)
  makeFolder(dirname(path))
  return path
}

export function addClientStoreOption(command: Command): Command {
  return command
    .optionsGroup('Where:')
    .option(
      '--store <path>',
      `a SQLite file or a postgres:// address; default: ${join(statePath(), 'clients.db')}`,
    )
}
