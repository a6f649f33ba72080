import { dirname, join } from 'node:path'
import { makeFolder } from '#core/base/make-folder'
import type { StoreFlags } from '../../../host/flags.ts'
import { stateFolder } from '../../../host/platform.ts'

/**
 * Clients work in many folders, and their conversations belong to the user rather than to a
 * project: without `--store` they are kept in the user's own folder.
 */
export function clientStore({ store }: StoreFlags): string {
  if (store !== undefined) return store
  const path = join(stateFolder(), 'clients.db')
  makeFolder(dirname(path))
  return path
}
