import { type EntryNumber, entryNumber } from '#core/base/ids'
import type { ControlEnd } from '#core/session/view/control-outcome'
import type { Session } from '../runtime.ts'

/** Why a control item was refused, for people: the end of a sentence, without its full stop. */
export function refusalReason(end: Extract<ControlEnd, { kind: 'turned-down' }>): string {
  switch (end.why) {
    case 'no-room': {
      const { tokensAfter, limit } = end
      const figures =
        limit === undefined
          ? ''
          : `: ${tokensAfter?.toLocaleString('en')} tokens where ${limit.toLocaleString('en')} fit`
      return `there is no room for it${figures}`
    }
    case 'nothing-to-revert':
      return 'no compaction is in effect'
    case 'nothing-to-compact':
      return 'there is nothing worth compacting yet'
    case 'tried-too-often':
      return 'it was tried too often just now; ask again in some minutes'
    case 'out-of-date':
      return 'the session has changed since it was shown'
    case 'no-replacement':
      return 'the summary in effect could not be rewritten without it'
    case 'unknown-pin':
      return 'there is no such pin'
    case 'unknown-entry':
      return 'there is no such entry'
    case 'elsewhere':
      return 'the entry belongs to the session that this one was forked from; erase it there'
    case 'compaction-failed':
      return 'the compaction failed; the session is as it was'
    case 'not-understood':
      return 'it was not understood'
    default:
      return end.why satisfies never
  }
}

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
