import type { Message } from './message.ts'
import { plainText } from './text.ts'

const TITLE_CHARACTERS_MAX = 80
/** Only the start of a message is searched: a pasted log contains no sentence. */
const TEXT_MAX = 4_000

/** The first sentence that a person wrote; null if there is none worth showing. */
export function firstSentence(messages: readonly Message[]): string | null {
  for (const message of messages) {
    if (message.role !== 'user' || message.synthetic === true) continue
    const title = sentenceOf(plainText(message.parts))
    if (title !== null) return title
  }
  return null
}

/** The first sentence of one message, skipping added blocks, commands and lines without words. */
export function sentenceOf(text: string): string | null {
  const lines = withoutBlocks(text.slice(0, TEXT_MAX)).split('\n')
  const line = lines.map((each) => each.replaceAll(/\s+/g, ' ').trim()).find(isSpoken)
  if (line === undefined) return null
  const end = line.search(/[.!?](?: |$)/)
  const sentence = end < 0 ? line : line.slice(0, end + 1)
  return cutAtWord(sentence.replace(/^[#>*\-\s]+/, '').replace(/[.:,;]$/, ''))
}

/** At least two words of letters; a path, a number or a command does not qualify. */
function isSpoken(line: string): boolean {
  if (line.startsWith('/') || line.startsWith('<')) return false
  return (line.match(/\p{L}{2,}/gu)?.length ?? 0) >= 2
}

/** `<environment_context>…</environment_context>` and the like, as coding agents add them. */
function withoutBlocks(text: string): string {
  let rest = text
  for (;;) {
    const open = /^\s*<([a-zA-Z][\w-]{0,40})[^>\n]{0,200}>/.exec(rest)
    if (open === null) return rest
    const close = `</${open[1]}>`
    const end = rest.indexOf(close, open[0].length)
    rest = end < 0 ? rest.slice(open[0].length) : rest.slice(end + close.length)
  }
}

function cutAtWord(text: string): string {
  if (text.length <= TITLE_CHARACTERS_MAX) return text
  const blank = text.lastIndexOf(' ', TITLE_CHARACTERS_MAX - 1)
  return `${text.slice(0, blank > 0 ? blank : TITLE_CHARACTERS_MAX - 1)}…`
}
