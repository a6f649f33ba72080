import { isId } from '../../base/ids.ts'
import { sha256Hex } from '../../base/sha256.ts'
import type { Message, UserMessage } from '../message.ts'

/** The pin that shows an agent its notes. Only the memory of the agent sets it. */
export const NOTES_PIN = 'memory'

/** Why a caller may not set or remove a pin of this name; null if it may. */
export function pinNameProblem(name: string): string | null {
  if (!isId(name)) return 'a pin name has 1 to 64 letters, digits, "_" or "-"'
  return name === NOTES_PIN
    ? `the name "${NOTES_PIN}" is reserved for the notes of the agent; choose another`
    : null
}

/**
 * A pin as the model reads it: data that a person or the model wrote, with the authority of a user
 * message and never that of system text. The label carries a hash of the content, so that the text
 * cannot close its own block and imitate another.
 */
export function pinnedText(name: string, text: string): string {
  const check = sha256Hex(`${name}\n${text}`).slice(0, 12)
  return `[pin ${name} ${check}, kept word for word for this conversation; ranks as a message of it]\n${text}\n[${check} end]`
}

export function pinnedMessage(name: string, text: string): UserMessage {
  const parts = [{ type: 'text', text: pinnedText(name, text) } as const]
  return { role: 'user', parts, synthetic: true, pinned: true }
}

/** Whether a message leads a context: it stays before the handoff and is never summarized. */
export function isLeading(message: Message): boolean {
  return message.role === 'system' || (message.role === 'user' && message.pinned === true)
}
