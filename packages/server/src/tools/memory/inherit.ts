import { NOTES_PIN } from '#core/message/handoff/pinned'
import { NOTES_MAX } from '#core/store/bounds'
import type { Commits, Reads } from '#core/store/contract'
import { parseBody } from '#core/store/integrity/damaged-row'
import type { NoteRow } from '#core/store/operational-rows'
import type { SessionRow } from '#core/store/tables/rows'
import { memoryBlock } from './block.ts'

type NoteStore = Pick<
  Commits & Reads,
  'findSession' | 'readEntries' | 'listNotes' | 'putNote' | 'removeNote'
>

/**
 * A fork has a scope of its own, so that a caller who reaches only the fork learns nothing that its
 * origin notes later. It takes along the notes that it shows, as they are now in its origin; one that
 * was changed or removed since stays behind. Each keeps the entry it came from, so that erasing the
 * entry removes it here too. Does nothing once the fork shows notes of its own.
 */
export async function inheritNotes(store: NoteStore, fork: SessionRow): Promise<void> {
  const { agent, id, origin, forkedAt, pins, scope } = fork
  const pin = pins[NOTES_PIN]
  if (origin === null || pin === undefined || pin.entry > forkedAt) return
  const from = await store.findSession(origin)
  if (from === undefined || from.scope === scope) return
  await inheritNotes(store, from)
  const [entry] = await store.readEntries({ sessionId: id, from: pin.entry, to: pin.entry })
  const block = entry === undefined ? null : parseBody('entry', entry)
  const shown = new Set(typeof block === 'string' ? block.split('\n') : [])
  const readShown = async () =>
    (await store.listNotes({ agent, scope: from.scope, limit: NOTES_MAX })).filter((note) =>
      shown.has(lineOf(note)),
    )
  const taken = await readShown()
  for (const { at: _, ...note } of taken) {
    await store.putNote({ ...note, scope, isInherited: true })
  }
  // A note that was erased meanwhile must not come back.
  const left = new Set((await readShown()).map((note) => note.id))
  for (const note of taken) if (!left.has(note.id)) await store.removeNote({ ...note, scope })
}

function lineOf(note: NoteRow): string {
  return memoryBlock([note])?.split('\n').at(-1) ?? ''
}
