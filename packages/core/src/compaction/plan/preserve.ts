import type { Handoff, PreservedMessage } from '../../message/handoff.ts'
import type { Message, TextPart, UserMessage } from '../../message/message.ts'
import type { Counters, CountTokens } from '../counters.ts'
import { clipUserParts } from './clear.ts'
import type { CompactPlan } from './plan.ts'

/**
 * The user's own words, kept beside the summary. Newest first within the budget; the one that
 * crosses it is cut in the middle; each says whether it was answered, so that no finished request is
 * done again and the open one is not forgotten.
 */
export interface Preserved {
  /** Oldest first. */
  readonly messages: readonly PreservedMessage[]
  readonly dropped: number
}

/** A covered open request is kept with at least this much, whatever the budget. */
const OPEN_TOKENS_MIN = 200

/** Fewer tokens of a long message say nothing. */
const TRUNCATED_TOKENS_MIN = 40

/** The line that says which message it was. */
export const TITLE_TOKENS = 12

/** Those of the head and those that the earlier handoff had kept. */
export function preserveUserMessages(
  request: Counters & {
    readonly messages: readonly Message[]
    readonly plan: CompactPlan
    readonly earlier?: Handoff
  },
): Preserved {
  const { messages, plan, earlier, countMessage } = request
  const kept: PreservedMessage[] = []
  let left = plan.allotment.user
  let dropped = 0
  for (const candidate of candidates(messages, plan, earlier)) {
    // Nothing more fits: what is older is not counted for nothing.
    if (left < TITLE_TOKENS && kept.length > 0) {
      dropped++
      continue
    }
    const fitting = [candidate, withoutAttachments(candidate)].find(
      ({ message }) => countMessage(message) + TITLE_TOKENS <= left,
    )
    if (fitting !== undefined) {
      kept.push(fitting)
      left -= countMessage(fitting.message) + TITLE_TOKENS
      continue
    }
    const isNewestOpen = kept.length === 0 && candidate.state === 'open'
    const room = (isNewestOpen ? Math.max(left, OPEN_TOKENS_MIN) : left) - TITLE_TOKENS
    // One message crosses the budget; nothing older than it is kept, so that no gap is hidden.
    left = 0
    if (room < TRUNCATED_TOKENS_MIN) dropped++
    else kept.push(truncate(withoutAttachments(candidate), room, request.countTokens))
  }
  return { messages: kept.reverse(), dropped }
}

function* candidates(
  messages: readonly Message[],
  plan: CompactPlan,
  earlier: Handoff | undefined,
): Generator<PreservedMessage> {
  const { headFrom, firstNumber } = plan.layout
  const answeredBefore = lastReply(messages, headFrom)
  for (let index = plan.cut - 1; index >= headFrom; index--) {
    const message = messages[index]
    if (message === undefined || !isAsk(message)) continue
    // It stays in the context as a message.
    if (plan.open?.includes(index) === true) continue
    const state = index < answeredBefore ? 'answered' : 'open'
    yield { message, number: firstNumber + index - headFrom, state }
  }
  for (const preserved of earlier?.preserved.toReversed() ?? []) {
    yield answeredBefore >= headFrom ? { ...preserved, state: 'answered' } : preserved
  }
}

/**
 * The place of the newest final reply, -1 if there is none: what was asked before it was answered,
 * by the reply that ended the turn, also where several requests shared that turn.
 */
function lastReply(messages: readonly Message[], from: number): number {
  for (let index = messages.length - 1; index >= from; index--) {
    const message = messages[index]
    if (message !== undefined && isFinalReply(message)) return index
  }
  return -1
}

export function isAsk(message: Message): message is UserMessage {
  return (
    message.role === 'user' &&
    message.synthetic !== true &&
    message.parts.some((part) => part.type !== 'text' || part.text.trim() !== '')
  )
}

/** Text without a call: the agent yielded. */
export function isFinalReply(message: Message): boolean {
  return (
    message.role === 'assistant' &&
    message.parts.some((part) => part.type === 'text' && part.text.trim() !== '') &&
    !message.parts.some((part) => part.type === 'tool-call')
  )
}

/** An image weighs as much as many words, and words say what was wanted. */
function withoutAttachments(candidate: PreservedMessage): PreservedMessage {
  if (candidate.message.parts.every((part) => part.type === 'text')) return candidate
  const parts = candidate.message.parts.map(
    (part): TextPart =>
      part.type === 'text'
        ? part
        : { type: 'text', text: `[${part.type} of message ${candidate.number} left out]` },
  )
  return { ...candidate, message: { role: 'user', parts }, truncated: true }
}

function truncate(
  candidate: PreservedMessage,
  tokensMax: number,
  countTokens: CountTokens,
): PreservedMessage {
  const { number } = candidate
  const parts = clipUserParts(candidate.message.parts, { tokensMax, countTokens, number })
  return { ...candidate, message: { role: 'user', parts }, truncated: true }
}
