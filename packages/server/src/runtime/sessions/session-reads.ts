import type { SessionId } from '#core/base/ids'
import { readRange } from '#core/session/context/source'
import { entryView, type TranscriptEntry } from '#core/session/view/transcript'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import type { Entry } from '#core/store/tables/rows'

/** The store for those who read this session. */
export async function readsOf(store: Store, id: SessionId): Promise<Store> {
  const session = await store.findSession(id)
  return session === undefined || session.state === 'open' ? store : purgedReads(store)
}

/** Undefined: there is no such session. */
export async function readTranscript(
  store: Store,
  id: SessionId,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly TranscriptEntry[] | undefined> {
  const session = await store.findSession(id)
  if (session === undefined) return undefined
  const last = Math.min(to, session.tail, from + LIST_MAX - 1)
  const entries = await readRange(store, id, Math.max(1, from) - 1, last)
  return entries.map((entry) => entryView(entry, session.covers))
}

/**
 * The store as people read a purged session: without words. Forks may still read what it kept for
 * them, through their own ids.
 */
function purgedReads(store: Store): Store {
  return {
    ...store,
    readEntries: async (query) => (await store.readEntries(query)).map(emptied),
    readContext: async (query) => {
      const source = await store.readContext(query)
      return source && { ...source, entries: source.entries.map(emptied) }
    },
    findBlob: async () => undefined,
    search: async () => ({ hits: [], total: 0, pending: 0, unembedded: 0 }),
  }
}

function emptied(entry: Entry): Entry {
  return { ...entry, body: null }
}
