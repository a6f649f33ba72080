import { join } from 'node:path'
import { replaceFile } from '#core/base/files/write'
import type { Store } from '#core/store/contract'
import { mintToken } from '../gateway/http/access/access.ts'
import { besideStore } from './store-selection.ts'

/** The file with the token of `http.requireToken`, for the user who runs the server. */
export function tokenFile(storeUrl: string): string {
  return join(besideStore(storeUrl), 'http-token')
}

const ID = 'local'

/**
 * Creates the first token of a store and writes it to a private file. Requests without a token have
 * the same principal, so a request sent before the token existed can still be repeated.
 */
export async function makeFirstToken(store: Store, storeUrl: string): Promise<void> {
  if ((await store.listTokens()).length > 0) return
  const label = 'made by http.requireToken'
  const { text, record } = mintToken({ id: ID, scopes: ['operate'], label, now: Date.now() })
  const outcome = await store.putToken(record)
  // Another process that started at the same time created one first.
  if (outcome.kind !== 'done') return
  const file = tokenFile(storeUrl)
  replaceFile(file, `${text}\n`)
}
