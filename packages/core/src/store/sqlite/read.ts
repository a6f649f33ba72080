import { existsSync } from 'node:fs'
import type { ReadStore, ReadVerb } from '../contract.ts'
import { StoreClosedError, StoreRefusedError } from '../errors.ts'
import { type AnswerOf, type QueryOf, readStoreOver } from '../facade.ts'
import { withAnchor } from '../integrity/anchor.ts'
import { anchorOf, recordOf, resolveFile } from './store-file.ts'
import { newStoreNumber, storeThread } from './worker/threads.ts'

/**
 * Opens a SQLite store read-only: creates no file, takes no write lock, writes no anchor, and works
 * while others write. Rejects a missing file, a foreign file, or another schema.
 */
export async function readSqliteStore(file: string): Promise<ReadStore> {
  const path = resolveFile(file)
  if (!existsSync(path)) throw new StoreRefusedError({ path, problem: 'there is no such file.' })
  const store = newStoreNumber()
  const thread = storeThread('reader')
  await thread.call(store, 'open', { kind: 'open-traceless-reader', path })
  let closing: Promise<void> | undefined
  const only = readStoreOver({
    async read<Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>): Promise<AnswerOf<Verb>> {
      if (closing !== undefined) throw new StoreClosedError({ verb })
      return (await thread.call(store, verb, { kind: 'read', verb, query })) as AnswerOf<Verb>
    },
    close() {
      closing ??= thread.call(store, 'close', { kind: 'close' }).then(() => {})
      return closing
    },
  })
  return withAnchor(only, anchorOf(path), recordOf(path))
}
