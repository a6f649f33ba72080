import { invalidOption, show } from '../base/option-checks.ts'
import type { Message } from '../message/message.ts'

/** The tokens of a text. */
export type CountTokens = (text: string) => number

/** How one compaction counts tokens, the same from start to end. */
export interface Counters {
  readonly countTokens: CountTokens
  readonly countMessage: (message: Message) => number
}

/** A counter that returns NaN or a promise would make every comparison false, and nothing would fit. */
export function checkedCounter(countTokens: CountTokens): CountTokens {
  return (text) => {
    const tokens: unknown = countTokens(text)
    if (typeof tokens === 'number' && tokens >= 0 && tokens < Number.POSITIVE_INFINITY)
      return tokens
    throw invalidOption(
      'countTokens',
      `"countTokens" returned ${show(tokens)}. It returns a number of tokens, at once.`,
    )
  }
}
