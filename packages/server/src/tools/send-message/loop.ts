/**
 * Detects two agents that thank each other forever: each message is short, answers the last one,
 * and nothing happens in between. After a number of such messages in a row the next ones are kept
 * but start no turn. Anything else resets the count: a person's message, any other notification, a
 * tool call, a longer message.
 *
 * Agents that thank each other in a ring never write back, and each hears from one and writes to
 * another. So short messages from third agents reset only a smaller count: an agent that
 * coordinates several hears from others in between, and may talk longer.
 */
export interface LoopRule {
  readonly messagesMax: number
  /** A message of this size or larger counts as substantial. */
  readonly tokensMin: number
}

export const LOOP_RULE: LoopRule = { messagesMax: 6, tokensMin: 40 }
/** The factor for a row with short messages from third agents in between. */
const RING_TIMES = 4

/** Something that happened in one of the two sessions. */
export interface Sign {
  /** The store's timestamp. */
  readonly at: number
  /** `message`: between the two; `third`: from another agent's session. */
  readonly kind: 'message' | 'third' | 'held' | 'other'
  /** The size of a message. */
  readonly tokens?: number
}

export type LoopVerdict =
  | { readonly kind: 'send' }
  /** `isFirst`: nothing was held in this run yet, so both must be notified. */
  | { readonly kind: 'hold'; readonly isFirst: boolean; readonly messages: number }

export function judgeLoop(
  signs: readonly Sign[],
  next: { readonly tokens: number },
  rule: LoopRule,
): LoopVerdict {
  if (next.tokens >= rule.tokensMin) return { kind: 'send' }
  const isOther = ({ kind, tokens = 0 }: Sign) => kind === 'other' || tokens >= rule.tokensMin
  const pair = judgeRun(signs, (sign) => isOther(sign) || sign.kind === 'third', rule.messagesMax)
  return pair.kind === 'hold' ? pair : judgeRun(signs, isOther, RING_TIMES * rule.messagesMax)
}

function judgeRun(
  signs: readonly Sign[],
  isBreak: (sign: Sign) => boolean,
  messages: number,
): LoopVerdict {
  const brokenAt = signs.filter(isBreak).reduce((at, sign) => Math.max(at, sign.at), -1)
  // Within one millisecond the order is unknown; assume that it was no loop.
  const run = signs.filter((sign) => !isBreak(sign) && sign.at > brokenAt)
  const sent = run.filter(({ kind }) => kind === 'message').length
  if (sent < messages) return { kind: 'send' }
  return { kind: 'hold', isFirst: !run.some(({ kind }) => kind === 'held'), messages }
}
