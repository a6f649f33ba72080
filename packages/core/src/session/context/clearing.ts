import type { Clears } from '../../store/tables/rows.ts'
import type { SessionSettings } from '../settings.ts'
import { budgetOf } from './budget.ts'
import { type ContextPiece, fitInputs, resultSizes, sum } from './piece.ts'
import type { SessionView } from './session-view.ts'

/** What a clearing would do: which results it shortens, and the size of the context then. */
export interface PlannedClearing {
  readonly clears: Clears
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
    const clears = { upto, tokens }
    const pieces = (context.unclipped ?? context.pieces).map((piece) => cleared(piece, clears))
    // An input that was shortened may be whole again beside shorter results, and take what they
    // free. So the size of each result must be exact: an upper bound would leave that input short.
    const { tokens: tokensAfter } = fitInputs(pieces, lead, session.limits)
    // Smaller in any case: one that gains nothing would be claimed again and again.
    if (tokensAfter <= targetTokens && tokensAfter < context.tokens) {
      return { clears, tokensAfter }
    }
  }
  return null
}

function cleared(piece: ContextPiece, { upto, tokens }: Clears): ContextPiece {
  if (piece.message.role !== 'tool') return piece
  const results = resultSizes(piece).map((result) =>
    result.number > upto ? result : { ...result, tokens: Math.min(result.tokens, tokens) },
  )
  return { ...piece, tokens: results.reduce((total, result) => total + result.tokens, 0) }
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
