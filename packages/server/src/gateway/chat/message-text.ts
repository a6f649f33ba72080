import { clip, indentRest, oneLine, quoteLines } from '#core/base/line'
import type { Incoming } from './platform.ts'

const QUOTE_CHARACTERS_MAX = 300
const NAME_CHARACTERS_MAX = 64

/**
 * The text of a message as the agent reads it. In a group it starts with the speaker's name, and
 * neither a colon in a name nor a line of the text can imitate another speaker. A reply quotes the
 * message that it answers.
 */
export function messageText(
  { chat, sender, answers, note }: Pick<Incoming, 'chat' | 'sender' | 'answers' | 'note'>,
  text: string,
): string {
  const quote = answers === undefined ? '' : `> ${clip(oneLine(answers), QUOTE_CHARACTERS_MAX)}\n\n`
  const after = note === undefined ? '' : `\n\n${note}`
  if (chat.kind !== 'group') return quote + text + after
  const name = clip(oneLine(sender.name.replaceAll(/[:：]/g, ' ')), NAME_CHARACTERS_MAX)
  return `${quote}${name}: ${indentRest(text)}${after}`
}

/**
 * A message of somebody else that the sender passed on. Its text and the name of its author are
 * quoted: unquoted lines count as the sender's own words, and standing instructions are read from those.
 */
export function forwardedText(text: string, author?: string): string {
  const lines = [...(author === undefined ? [] : [`From ${clip(oneLine(author))}:`]), text]
  return `(forwarded)\n${quoteLines(lines.join('\n').trimEnd())}`
}
