import { indexOfHandoff } from '../message/handoff/envelope.ts'
import { isLeading } from '../message/handoff/pinned.ts'
import type { Message } from '../message/message.ts'
import { alignForward } from '../message/pairing.ts'
import { type Measured, tokensBetween } from '../tokens/measure.ts'
import type { Budget } from './plan/budget.ts'

/** The positions of the parts of a context. */
export interface Layout {
  /** Messages before this stay first: system text, pins and protected ones. */
  readonly fixedTo: number
  /** The position of the earlier handoff, right after the fixed part. */
  readonly handoffAt?: number
  readonly headFrom: number
  /** The conversation-wide number of the message at `headFrom`, counted from 1. */
  readonly firstNumber: number
  /** In a session: the entries that each message of the context was made from. */
  readonly entries?: MessageEntries
}

/**
 * For each message the entries that it was made from, one for each result of a tool message and one
 * for any other.
 */
export type MessageEntries = readonly (readonly number[])[]

/**
 * The number under which a handoff refers to a message of its head, or to one result of a tool
 * message. In a session it is the entry that `recall` opens, elsewhere the message's position in
 * the conversation.
 */
export type NumberOf = (index: number, part?: number) => number

export function positionsFrom(first: number): NumberOf {
  return (index) => first + index
}

export function headNumbers({ headFrom, firstNumber, entries }: Layout): NumberOf {
  const position = positionsFrom(firstNumber)
  return (index, part) => {
    const made = entries?.[headFrom + index]
    return (part === undefined ? made?.at(-1) : made?.[part]) ?? position(index)
  }
}

/** First messages are protected as long as they leave half of the target to everything else. */
export function findFittingLayout(measured: Measured, budget: Budget): Layout {
  const layout = findLayout(measured.messages, budget.settings.protectFirst)
  const fits = tokensBetween(measured, 0, layout.fixedTo) <= budget.targetTokens / 2
  return fits || layout.handoffAt !== undefined ? layout : findLayout(measured.messages, 0)
}

export function findLayout(messages: readonly Message[], protectFirst: number): Layout {
  const conversation = messages.findIndex((message) => !isLeading(message))
  const lead = conversation === -1 ? messages.length : conversation
  const handoffAt = indexOfHandoff(messages)
  const earlier = messages[handoffAt]
  if (earlier?.role === 'handoff') {
    const firstNumber = earlier.handoff.covers + 1
    return { fixedTo: handoffAt, handoffAt, headFrom: handoffAt + 1, firstNumber }
  }
  const fixedTo =
    protectFirst === 0
      ? lead
      : alignForward(messages, Math.min(lead + protectFirst, messages.length))
  return { fixedTo, headFrom: fixedTo, firstNumber: fixedTo - lead + 1 }
}

/** Text without a call: the agent yielded. */
export function isFinalReply(message: Message): boolean {
  return (
    message.role === 'assistant' &&
    message.isPartial !== true &&
    message.parts.some((part) => part.type === 'text' && part.text.trim() !== '') &&
    !message.parts.some((part) => part.type === 'tool-call')
  )
}
