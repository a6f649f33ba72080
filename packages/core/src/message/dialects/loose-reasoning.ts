import type { AssistantPart, Message } from '../message.ts'
import { keepParts } from './parts.ts'

/** Drops reasoning that no part of its reply follows, as in a reply that was interrupted. */
export function withoutLooseReasoning(
  messages: readonly Message[],
  follows: (part: AssistantPart) => boolean = () => true,
): readonly Message[] {
  const kept: Message[] = []
  let isFollowed = false
  for (const message of messages.toReversed()) {
    if (message.role !== 'assistant') {
      isFollowed = false
      kept.push(message)
      continue
    }
    const loose = new Set<number>()
    for (const [index, part] of [...message.parts.entries()].reverse()) {
      if (part.type === 'reasoning') {
        if (!isFollowed) loose.add(index)
      } else isFollowed = follows(part)
    }
    let index = 0
    const rest = keepParts(message, () => !loose.has(index++))
    if (rest.parts.length > 0) kept.push(rest)
  }
  return kept.reverse()
}
