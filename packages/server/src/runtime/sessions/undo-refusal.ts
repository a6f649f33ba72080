import { type EntryNumber, entryNumber } from '#core/base/ids'
import type { ControlEnd } from '#core/session/view/control-outcome'
import type { Session } from '../runtime.ts'
import { refusalReason } from './refusal-text.ts'

/**
 * Why an undo was refused, as the end of a sentence without its full stop. The sizes are those that
 * the session shows elsewhere: of the context, and of the model's window.
 */
export function undoRefusalReason(
  end: Extract<ControlEnd, { kind: 'turned-down' }>,
  { compaction, windowTokens }: { readonly compaction: number; readonly windowTokens: number },
): string {
  const { why, tokensAfter, limit } = end
  if (why !== 'no-room' || tokensAfter === undefined || limit === undefined) {
    return refusalReason(end)
  }
  const [size, window, free] = [tokensAfter, windowTokens, windowTokens - limit].map((tokens) =>
    tokens.toLocaleString('en'),
  )
  return (
    `without the compaction at #${compaction} the context would be ${size} of ${window} tokens, ` +
    `and ${free} must stay free for the next message`
  )
}

const ENTRIES_READ = 50

/**
 * The newest answer among the entries that a compaction replaces: a fork there has the messages
 * before it word for word. Null: there is none nearby.
 */
export async function findForkBefore(
  session: Pick<Session, 'transcript'>,
  compaction: EntryNumber,
): Promise<EntryNumber | null> {
  const [made] = (await session.transcript({ from: compaction, to: compaction })) ?? []
  const covers = made !== undefined && 'covers' in made.meta ? made.meta.covers : 0
  if (covers < 1) return null
  const from = entryNumber(Math.max(1, covers - ENTRIES_READ + 1))
  const entries = (await session.transcript({ from, to: entryNumber(covers) })) ?? []
  return entries.findLast(({ kind }) => kind === 'assistant')?.number ?? null
}
