import { NOTES_MAX } from '../../store/bounds.ts'
import type { Reads } from '../../store/contract.ts'
import type { SessionRow } from '../../store/rows.ts'
import type { NoteRow } from '../../store/standing.ts'

export interface NoteSharing {
  /** Every session of the agent sees all its notes. Only the operator sets this. */
  readonly isShared?: boolean
}

/** The notes that a session sees: those of its own scope, or of all where its agent shares them. */
export async function readNotes(
  store: Pick<Reads, 'listNotes'>,
  { agent, scope }: Pick<SessionRow, 'agent' | 'scope'>,
  { isShared = false }: NoteSharing,
): Promise<readonly NoteRow[]> {
  return await store.listNotes({ agent, ...(!isShared && { scope }), limit: NOTES_MAX })
}
