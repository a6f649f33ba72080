import type { Message } from '#core/message/message'
import { textOf } from '#core/message/text'

/** A title for a quoted conversation: its first words. */
const WISH = /\bname the (?:quoted )?conversation\b/i
const WORDS_MAX = 8

export function asksForTitle(messages: readonly Message[]): boolean {
  return messages.some((message) => message.role === 'system' && WISH.test(textOf(message)))
}

export function titleOf(quoted: string): string {
  const said = quoted
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '' && !/^(?:={3,}|#\d+ [a-z ()]+:$)/.test(line))
  const words = (said ?? '').split(/\s+/).filter((word) => word !== '')
  return words
    .slice(0, WORDS_MAX)
    .join(' ')
    .replace(/[.!?,;:]+$/, '')
}
