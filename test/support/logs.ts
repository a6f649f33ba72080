import type { Conversation } from '../../packages/core/src/message/codec.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import { handoffOf } from './builders.ts'

/** Each message as `role: words`, for comparing on one screen. */
export const said = ({ messages }: Conversation) =>
  messages.map((message) => `${message.role}: ${textOf(message)}`)

export const handoff = handoffOf({ covers: 9, kept: 1, summary: 'what happened' })

/** The conversation with its first messages replaced by a handoff, as a compaction leaves it. */
export function compacted(conversation: Conversation, keep: number): Conversation {
  const tail = conversation.messages.slice(-keep)
  return { ...conversation, messages: [{ role: 'handoff', handoff }, ...tail] }
}
