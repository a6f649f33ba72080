import { NOTES_MAX } from '#core/store/bounds'
import type { Reads } from '#core/store/contract'
import type { NoteRow } from '#core/store/operational-rows'
import type { SessionRow } from '#core/store/tables/rows'

export interface NoteSharing {
  /** Every session of the agent sees all its notes. Only the operator sets this. */
  readonly isShared?: boolean
}

/** The notes that a session sees: those of its own scope, or all if its agent shares them. */
export async function readNotes(
  store: Pick<Reads, 'listNotes'>,
  { agent, scope }: Pick<SessionRow, 'agent' | 'scope'>,
  { isShared = false }: NoteSharing,
): Promise<readonly NoteRow[]> {
  return await store.listNotes({ agent, ...(!isShared && { scope }), limit: NOTES_MAX })
}
