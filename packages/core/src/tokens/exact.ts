import { splitsCharacter } from '../base/line.ts'

/**
 * Exact counts with an external tokenizer, in slices. Tokenizers take quadratic time over one long
 * word: 200,000 repeated characters blocked a process for 45 seconds. In slices they take
 * milliseconds; each cut can add a token or two, 0.05 to 0.5% on ordinary text, on the safe side.
 *
 * The caller passes the tokenizer, so that its tables (67 MB) are loaded only if exact counts are
 * needed, and this module needs no dependency:
 *
 *     import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
 *     compact(messages, { countTokens: exactCounter(countTokens) })
 */
const SLICE_CHARACTERS_MAX = 1_000

/** The part of gpt-tokenizer's `countTokens` that is used. */
export type TokenCounter = (
  slice: string,
  options: { readonly disallowedSpecial: Set<string> },
) => number

/**
 * Text that spells a special token (`<|endoftext|>` in a file about tokenizers) is counted as the
 * words it is; left alone, gpt-tokenizer throws on it.
 */
export function exactCounter(countTokens: TokenCounter): (text: string) => number {
  const options = { disallowedSpecial: new Set<string>() }
  return (text) => countInSlices(text, (slice) => countTokens(slice, options))
}

/** The sum of `count` over the whole text, in order, a slice at a time. */
export function countInSlices(text: string, count: (slice: string) => number): number {
  let sum = 0
  let from = 0
  while (from < text.length) {
    const to = endOfSlice(text, from)
    sum += count(text.slice(from, to))
    from = to
  }
  return sum
}

/** Moves the cut before a surrogate pair that it would split. */
function endOfSlice(text: string, from: number): number {
  const end = from + SLICE_CHARACTERS_MAX
  if (end >= text.length) return text.length
  return splitsCharacter(text, end) ? end - 1 : end
}
