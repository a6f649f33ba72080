import { splitsCharacter } from '../base/line.ts'
import type { CountTokens } from './counters.ts'

/**
 * Packs quoted messages, in order, into pieces that a summariser can read at once. Every character
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
  for (const text of texts.flatMap((whole) => slices(whole, options))) {
    const size = countTokens(text) + 1
    if (tokens + size > tokensMax) close()
    current.push(text)
    tokens += size
  }
  close()
  return pieces
}

function slices(text: string, options: { tokensMax: number; countTokens: CountTokens }): string[] {
  const tokens = options.countTokens(text)
  if (tokens < options.tokensMax) return [text]
  // Half a piece each: density varies inside a text, and a slice must never outgrow its piece.
  const length = Math.max(1, Math.floor((text.length * options.tokensMax) / tokens / 2))
  const result: string[] = []
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + length)
    if (splitsCharacter(text, to)) to++
    result.push(text.slice(from, to))
    from = to
  }
  return result
}
