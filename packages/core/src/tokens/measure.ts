import type { Message } from '../message/message.ts'

/**
 * Messages with running totals of their token counts. Planning reads totals instead of summing, so
 * that its cost depends on what is kept and not on the length of the conversation.
 */
export interface Measured {
  readonly messages: readonly Message[]
  /** `totals[i]` is the sum of the tokens of the messages before `i`; one longer than `messages`. */
  readonly totals: readonly number[]
}

/** Counts each message once; store the counts if counting is slow. */
export function measure(
  messages: readonly Message[],
  countOf: (message: Message) => number,
): Measured {
  const totals = [0]
  let total = 0
  for (const message of messages) {
    total += countOf(message)
    totals.push(total)
  }
  return { messages, totals }
}

/** Tokens of the messages from `from` up to but not including `to`. */
export function tokensBetween(measured: Measured, from: number, to: number): number {
  return (measured.totals[to] ?? 0) - (measured.totals[from] ?? 0)
}
