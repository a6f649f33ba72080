import { type EntryNumber, entryNumber } from '#core/base/ids'
import { buildContext } from '#core/session/context/build'
import { readRange } from '#core/session/context/source'
import { entryView } from '#core/session/view/transcript'
import type { Reads } from '#core/store/contract'
import type { SessionRow } from '#core/store/rows'
import type { SessionSnapshot } from '../runtime.ts'
import { viewContext } from './views.ts'

/** A read-only view of the transcript, without a copy. */
export async function openSnapshot(
  store: Reads,
  { id }: SessionRow,
  compaction: EntryNumber,
): Promise<SessionSnapshot | undefined> {
  if (compaction < 1) return undefined
  const [made] = await readRange(store, id, compaction - 1, compaction)
  if (made?.kind !== 'compaction') return undefined
  const entries = entryNumber(compaction - 1)
  const { previous } = made.meta
  const [before] = previous === 0 ? [] : await readRange(store, id, previous - 1, previous)
  const covers = before?.kind === 'compaction' ? before.meta.covers : 0
  return {
    sessionId: id,
    compaction,
    entries,
    async transcript({ from, to }) {
      const last = Math.min(to, entries)
      const read = from > last ? [] : await readRange(store, id, Math.max(1, from) - 1, last)
      return read.map((entry) => entryView(entry, covers))
    },
    async context() {
      const source = await store.readContext({ sessionId: id, upto: entries })
      if (source === null) return undefined
      const context = buildContext(source, source.limits, entries)
      return viewContext(id, context, { limits: source.limits, settings: null })
    },
  }
}
