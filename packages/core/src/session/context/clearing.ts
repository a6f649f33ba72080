import type { Clears } from '../../store/rows.ts'
import type { SessionSettings } from '../settings.ts'
import { budgetOf } from './budget.ts'
import { pieceEntries } from './build.ts'
import { type ContextPiece, fitInputs, sum } from './piece.ts'
import type { SessionView } from './session-view.ts'

/** What a clearing would do: which results it shortens, and the size of the context then. */
export interface PlannedClearing {
  readonly clears: Clears
  /** An upper bound: of several results in one message only the sum is known. */
  readonly tokensAfter: number
}

/**
 * Whether shortening old tool results makes the context as small as a compaction would: then no
 * summary is needed, and every word of the conversation stays. Null: it does not suffice. A
 * change of old messages costs the prompt cache of everything after them, so a clearing comes only
 * where a compaction is due, frees as much, and is as rare (decision 77).
 *
 * The newest results stay whole, as many as a compaction would leave, and all that no model has
 * seen.
 */
export function planClearing(
  { session, context }: Pick<SessionView, 'session' | 'context'>,
  settings: SessionSettings,
): PlannedClearing | null {
  const { targetTokens, keepTokens } = budgetOf(session.limits, settings)
  const earlier = context.clears ?? { upto: 0, tokens: Number.POSITIVE_INFINITY }
  const oldest = Math.min(session.seen, lastBefore(context.pieces, keepTokens))
  // What is shortened stays so.
  const upto = Math.max(earlier.upto, oldest)
  const lead = sum(context.system) + (context.handoff?.tokens ?? 0)
  for (const tokens of STUB_TOKENS.filter((each) => each <= earlier.tokens)) {
    const pieces = (context.unclipped ?? context.pieces).map((piece) => {
      if (piece.message.role !== 'tool' || piece.number > upto) return piece
      return { ...piece, tokens: Math.min(piece.tokens, tokens * pieceEntries(piece).length) }
    })
    // An input that was shortened may be whole again beside shorter results, and take what they free.
    const { tokens: tokensAfter } = fitInputs(pieces, lead, session.limits)
    // Smaller in any case: one that gains nothing would be claimed again and again.
    if (tokensAfter <= targetTokens && tokensAfter < context.tokens) {
      return { clears: { upto, tokens }, tokensAfter }
    }
  }
  return null
}

/**
 * The sizes that a result is shortened to: the first that suffices. The least holds the reference to
 * the original and a line or two of each end.
 */
const STUB_TOKENS = [400, 200, 100] as const

/** The newest entry that lies before the last `keepTokens` of the context. */
function lastBefore(pieces: readonly ContextPiece[], keepTokens: number): number {
  let kept = 0
  const last = pieces.findLast((piece) => {
    kept += piece.tokens
    return kept > keepTokens
  })
  return last?.number ?? 0
}
