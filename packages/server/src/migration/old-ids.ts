import { entryNumber, type SessionId } from '#core/base/ids'
import type { Reads } from '#core/store/contract'
import { importedFromOf } from './session-importer.ts'

/**
 * The imported session that had this id in its source. It searches all imported sessions, so that
 * old ids stay unroutable: no route and no message follows them.
 */
export async function findByOldId(store: Reads, id: string): Promise<SessionId | undefined> {
  for (let after: SessionId | undefined; ; ) {
    const page = await store.listSessions({ limit: PAGE, ...(after !== undefined && { after }) })
    for (const session of page) {
      if (session.birth !== 'imported' || session.tail === 0) continue
      // The first entry records the import, the newest settings what was continued since.
      for (const number of new Set([entryNumber(1), session.settings])) {
        if (number === 0) continue
        const range = { sessionId: session.id, from: number, to: number }
        const [entry] = await store.readEntries(range)
        if (entry && importedFromOf(entry)?.ids.includes(id)) return session.id
      }
    }
    after = page.at(-1)?.id
    if (page.length < PAGE) return undefined
  }
}

const PAGE = 500
