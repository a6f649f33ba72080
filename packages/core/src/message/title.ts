import type { Message } from './message.ts'
import { plainText } from './text.ts'

const TITLE_CHARACTERS_MAX = 80
/** Only the start of a message is searched: a pasted log contains no sentence. */
const TEXT_MAX = 4_000

/** Masks secrets before the text is cut. */
type Mask = (text: string) => string

/** The first sentence that a person wrote; null if there is none worth showing. */
export function firstSentence(messages: readonly Message[], mask: Mask): string | null {
  for (const message of messages) {
    if (message.role !== 'user' || message.synthetic === true) continue
    const title = sentenceOf(plainText(message.parts), mask)
    if (title !== null) return title
  }
  return null
}

/** The first sentence of one message, skipping added blocks, commands and lines without words. */
export function sentenceOf(text: string, mask: Mask): string | null {
  // Before anything is cut: half of a secret has no known shape.
  const lines = withoutBlocks(mask(text.slice(0, TEXT_MAX))).split('\n')
  const line = lines
    .map((each) => each.replaceAll(/\s+/g, ' ').trim())
    .find((each) => !each.startsWith('/') && isSpoken(withoutMarks(each)))
  if (line === undefined) return null
  const words = withoutMarks(line)
  const end = words.search(/[.!?](?: |$)/)
  const sentence = end < 0 ? words : words.slice(0, end + 1)
  return cutAtWord(sentence.replace(/[.:,;]$/, ''))
}

/**
 * The words of a line without the marks of Markdown and HTML. Only pairs of marks count, so that
 * `2 * 3`, `a < b` and `snake_case` stay.
 */
function withoutMarks(line: string): string {
  return line
    .replace(/^(?:[#>*+-]{1,6}\s|\d{1,3}[.)]\s|\[[ xX]\]\s|\s)*/, '')
    .replaceAll(/!?\[([^[\]]{1,200})\]\([^()\s]{1,500}\)/g, '$1')
    .replaceAll(HTML_TAG, '')
    .replaceAll(/(\*\*|__|~~|`{1,2})(?=\S)([^*_~`]{1,200})(?<=\S)\1/g, '$2')
    .replaceAll(/(?<![\w*_])([*_])(?=\S)([^*_]{1,200})(?<=\S)\1(?![\w*_])/g, '$2')
    .trim()
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
    if (open === null || isHtml(open[1] ?? '')) return rest
    const close = `</${open[1]}>`
    const end = rest.indexOf(close, open[0].length)
    rest = end < 0 ? rest.slice(open[0].length) : rest.slice(end + close.length)
  }
}

const HTML_NAMES =
  'a|b|i|u|s|em|strong|p|br|hr|h[1-6]|div|span|code|pre|ul|ol|li|blockquote|img|small|mark|kbd|del|ins|sub|sup|table|thead|tbody|tr|td|th'
const HTML_TAG = new RegExp(`</?(?:${HTML_NAMES})(?: [^<>]{0,200})?/?>`, 'gi')

function isHtml(name: string): boolean {
  return new RegExp(`^(?:${HTML_NAMES})$`, 'i').test(name)
}

function cutAtWord(text: string): string {
  if (text.length <= TITLE_CHARACTERS_MAX) return text
  const blank = text.lastIndexOf(' ', TITLE_CHARACTERS_MAX - 1)
  return `${text.slice(0, blank > 0 ? blank : TITLE_CHARACTERS_MAX - 1)}…`
}
