import { splitsCharacter } from '../../base/line.ts'
import type { CountTokens } from '../counters.ts'

/**
 * Packs quoted messages, in order, into pieces that a summarizer can read at once. Every character
 * is in exactly one piece; a message that is larger than a piece is continued in the next.
 */
export function splitIntoPieces(
  texts: readonly string[],
  options: { tokensMax: number; countTokens: CountTokens },
): readonly string[] {
  const { tokensMax, countTokens } = options
  const pieces: string[] = []
  let current: string[] = []
  let tokens = 0
  const close = () => {
    if (current.length > 0) pieces.push(current.join('\n\n'))
    current = []
    tokens = 0
  }
  const add = (text: string, size: number) => {
    if (tokens + size > tokensMax) close()
    current.push(text)
    tokens += size
  }
  for (const text of texts) {
    const size = countTokens(text) + 1
    if (size <= tokensMax) add(text, size)
    else for (const slice of slices(text, size, tokensMax)) add(slice, countTokens(slice) + 1)
  }
  close()
  return pieces
}

function slices(text: string, size: number, tokensMax: number): string[] {
  // Half a piece each: density varies inside a text, and a slice must never outgrow its piece.
  const length = Math.max(1, Math.floor((text.length * tokensMax) / size / 2))
  const result: string[] = []
  for (let from = 0; from < text.length; ) {
    const to = cutBetweenWords(text, from, Math.min(text.length, from + length))
    result.push(text.slice(from, to))
    from = to
  }
  return result
}

/** A piece ends inside a word only if the word is longer than this, to keep names whole. */
const WORD_CHARACTERS_MAX = 200

function cutBetweenWords(text: string, from: number, wanted: number): number {
  if (wanted === text.length) return wanted
  const least = Math.max(from + 1, wanted - WORD_CHARACTERS_MAX)
  for (let to = wanted; to >= least; to--) if (/\s/.test(text.charAt(to - 1))) return to
  return splitsCharacter(text, wanted) ? wanted + 1 : wanted
}
