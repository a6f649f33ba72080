import type { EntryNumber } from '../../base/ids.ts'
import { clearMessage } from '../../compaction/plan/clear.ts'
import type { Message } from '../../message/message.ts'
import type { InputLane, Limits } from '../../store/tables/rows.ts'

/** One message of the context; `number` is the last entry that it was made from. */
export interface ContextPiece {
  readonly number: EntryNumber
  readonly message: Message
  readonly tokens: number
  /** What each result takes, if there are several. */
  readonly results?: readonly ResultSize[]
  /** Shown with its two ends only. */
  readonly isClipped?: true
  /** The mail that it came from; only for delivered input. */
  readonly mail?: PieceMail
  /** A note to the model that no entry contains; never part of a handoff's source. */
  readonly isNote?: true
  /** A reply whose text was erased: its calls have neither their names nor their input. */
  readonly isErased?: true
}

export interface ResultSize {
  readonly number: EntryNumber
  readonly tokens: number
}

export interface PieceMail {
  readonly lane: InputLane
  readonly number: number
  /** How many more messages were waiting when it entered. */
  readonly waiting?: number
}

const CHARACTERS_PER_TOKEN = 4

/**
 * The share of the window, without the answer, up to which long inputs stay whole. Estimates may be
 * too low, and a compaction cannot shorten a message that is being answered.
 */
const WHOLE_SHARE = 0.8

/** How large a context may be that shows all its inputs whole. */
export function wholeTokensMax({ hardTokens, outputTokens }: Limits): number {
  return Math.floor(WHOLE_SHARE * (hardTokens - outputTokens))
}

/**
 * Shortens inputs above the input bound to it, the oldest first, until the rest may stay whole.
 * `lead`: the size of what comes before the pieces.
 */
export function fitInputs(
  pieces: readonly ContextPiece[],
  lead: number,
  limits: Limits,
): {
  readonly pieces: readonly ContextPiece[]
  /** The same pieces with every input whole, if one was shortened. */
  readonly unclipped?: readonly ContextPiece[]
  readonly tokens: number
} {
  let tokens = lead + sum(pieces)
  if (tokens <= wholeTokensMax(limits)) return { pieces, tokens }
  const shown = pieces.map((piece) => {
    if (piece.message.role !== 'user' || tokens <= wholeTokensMax(limits)) return piece
    const short = clipped(piece, limits.inputTokens)
    tokens -= piece.tokens - short.tokens
    return short
  })
  const isClipped = shown.some((piece, index) => piece !== pieces[index])
  return { pieces: shown, tokens, ...(isClipped && { unclipped: pieces }) }
}

/** With its two ends and a reference, if it is larger. */
export function clipped(piece: ContextPiece, tokensMax: number): ContextPiece {
  if (piece.tokens <= tokensMax) return piece
  // Uses the density counted when it was stored, so that the size of the clipped text is right.
  const perToken = Math.max(1, textLength(piece.message) / piece.tokens)
  const message = clearMessage(piece.message, {
    tokensMax,
    countTokens: (text) => Math.ceil(text.length / Math.min(perToken, CHARACTERS_PER_TOKEN)),
    number: piece.number,
  })
  return { ...piece, message, tokens: tokensMax, isClipped: true }
}

function textLength(message: Message): number {
  return JSON.stringify(message).length
}

/** What each entry takes of a piece of results; of any other piece, the piece itself. */
export function resultSizes({ number, tokens, results }: ContextPiece): readonly ResultSize[] {
  return results ?? [{ number, tokens }]
}

export function sum(pieces: readonly ContextPiece[]): number {
  return pieces.reduce((total, piece) => total + piece.tokens, 0)
}
