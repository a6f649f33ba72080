import type { Message } from '../message/message.ts'

/** The tokens of a text. */
export type CountTokens = (text: string) => number

/** How one compaction counts, the same from beginning to end. */
export interface Counters {
  readonly countTokens: CountTokens
  readonly countMessage: (message: Message) => number
}
