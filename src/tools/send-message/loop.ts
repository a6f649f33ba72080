/**
 * Two agents that thank each other for ever: each message is short, answers the last one, and
 * nothing happens in between. After a number of such messages in a row the next ones are kept but
 * wake nobody. Whatever is not of that kind begins the count anew: a person's word, any other
 * notification, a tool call, a message with something to say.
 */
export interface LoopRule {
  readonly messagesMax: number
  /** A message of this size or larger says something. */
  readonly tokensMin: number
}

export const LOOP_RULE: LoopRule = { messagesMax: 6, tokensMin: 40 }

/** Something that happened in one of the two sessions. */
export interface Sign {
  /** As the store stamped it. */
  readonly at: number
  readonly kind: 'message' | 'held' | 'other'
  /** Of a message between the two. */
  readonly tokens?: number
}

export type LoopVerdict =
  | { readonly kind: 'send' }
  /** `isFirst`: nothing was held back in this run yet, so both have to be told. */
  | { readonly kind: 'hold'; readonly isFirst: boolean }

export function judgeLoop(
  signs: readonly Sign[],
  next: { readonly tokens: number },
  rule: LoopRule,
): LoopVerdict {
  if (next.tokens >= rule.tokensMin) return { kind: 'send' }
  const isBreak = ({ kind, tokens = 0 }: Sign) => kind === 'other' || tokens >= rule.tokensMin
  const brokenAt = signs.filter(isBreak).reduce((at, sign) => Math.max(at, sign.at), -1)
  // In the same millisecond the order is not known; then it was no loop.
  const run = signs.filter((sign) => !isBreak(sign) && sign.at > brokenAt)
  const sent = run.filter(({ kind }) => kind === 'message').length
  if (sent < rule.messagesMax) return { kind: 'send' }
  return { kind: 'hold', isFirst: !run.some(({ kind }) => kind === 'held') }
}
