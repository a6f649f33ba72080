import type { Message } from './message.ts'

/** The model of the last reply that names one. */
export function lastModel(messages: readonly Message[]): string | undefined {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.role === 'assistant' && message.model !== undefined) return message.model
  }
  return undefined
}
