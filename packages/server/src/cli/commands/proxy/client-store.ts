import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { StoreFlags } from '../../../host/flags.ts'
import { PRIVATE_FOLDER_MODE, stateFolder } from '../../../host/platform.ts'

/**
 * Clients work in many folders, and their conversations belong to the user rather than to a
 * project: without `--store` they are kept in the user's own folder.
 */
export function clientStore({ store }: StoreFlags): string {
  if (store !== undefined) return store
  const path = join(stateFolder(), 'clients.db')
  mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER_MODE })
  return path
}
