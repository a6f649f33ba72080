import { writeEnvelope } from '../message/handoff/envelope.ts'
import type { Message, Part } from '../message/message.ts'
import { estimateMessage, estimatePart, MESSAGE_TOKENS } from './estimate.ts'
import type { ModelFamily } from './family.ts'

/** Counts messages: by the family's estimate, or their texts by a given counter. */
export function messageCounter(
  family: ModelFamily,
  countTokens?: (text: string) => number,
): (message: Message) => number {
  if (countTokens === undefined) return (message) => estimateMessage(message, family)
  const countPart = (part: Part): number => {
    switch (part.type) {
      case 'text':
        return countTokens(part.text)
      case 'tool-call':
        return countTokens(`${part.name} ${part.inputText ?? JSON.stringify(part.input)}`)
      case 'tool-result':
        return part.output.reduce((sum, output) => sum + countPart(output), 0)
      default:
        return estimatePart(part, family)
    }
  }
  // Roles and turn markers are not text, so a text counter does not see them.
  return (message) => {
    const parts = message.role === 'handoff' ? writeEnvelope(message.handoff).parts : message.parts
    return (parts as readonly Part[]).reduce((sum, part) => sum + countPart(part), MESSAGE_TOKENS)
  }
}
