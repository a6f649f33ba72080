import { isFence } from '../chat/fence.ts'

/**
 * Markdown as models write it, in Telegram's HTML. The result is well-formed whatever comes in:
 * everything is escaped, and a mark whose partner is missing stays the character that it is. One
 * pass over the text; nothing is looked for twice from the same place.
 */
export function renderHtml(markdown: string): string {
  const lines = markdown.toWellFormed().split('\n')
  const blocks: string[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    const kind = kindOf(line)
    if (kind === 'plain') {
      blocks.push(renderLine(line))
      at++
      continue
    }
    const end = endOf(kind, lines, at)
    blocks.push(BLOCKS[kind](lines.slice(at, end)))
    at = end
  }
  return blocks.join('\n')
}

type BlockKind = 'fence' | 'quote' | 'table'

function kindOf(line: string): BlockKind | 'plain' {
  if (isFence(line)) return 'fence'
  if (line.startsWith('>')) return 'quote'
  return line.startsWith('|') ? 'table' : 'plain'
}

function endOf(kind: BlockKind, lines: readonly string[], from: number): number {
  let at = from + 1
  if (kind === 'fence') {
    while (at < lines.length && !isFence(lines[at] ?? '')) at++
    // A block that is never closed ends with the message.
    return Math.min(at + 1, lines.length)
  }
  while (at < lines.length && kindOf(lines[at] ?? '') === kind) at++
  return at
}

const LANGUAGE = /^[ \t]*```([A-Za-z0-9+#-]{1,30})/

const BLOCKS: Readonly<Record<BlockKind, (lines: readonly string[]) => string>> = {
  fence: ([first = '', ...rest]) => {
    const isClosed = isFence(rest.at(-1) ?? '')
    const code = escapeHtml((isClosed ? rest.slice(0, -1) : rest).join('\n'))
    const language = LANGUAGE.exec(first)?.[1]
    if (language === undefined) return `<pre>${code}</pre>`
    return `<pre><code class="language-${language}">${code}</code></pre>`
  },
  quote: (lines) => {
    const said = lines.map((line) => renderSpans(line.replace(/^> ?/, ''), []))
    return `<blockquote>${said.join('\n')}</blockquote>`
  },
  // Columns stand one below the other only where all letters are equally wide.
  table: (lines) => `<pre>${escapeHtml(lines.join('\n'))}</pre>`,
}

const HEADING = /^#{1,6} +/
const BULLET = /^( {0,12})[-*+] +/

function renderLine(line: string): string {
  const heading = HEADING.exec(line)
  if (heading !== null) {
    const text = line.slice(heading[0].length)
    return `<b>${renderSpans(text, ['b'])}</b>`
  }
  const bullet = BULLET.exec(line)
  if (bullet === null) return renderSpans(line, [])
  return `${bullet[1] ?? ''}• ${renderSpans(line.slice(bullet[0].length), [])}`
}

type Tag = 'b' | 'i' | 's'

interface Span {
  readonly mark: string
  readonly tag: Tag
  /** Only at the edge of a word: `snake_case` is a name. */
  readonly needsEdge: boolean
}

/** Longer marks first: `**` is not two of `*`. */
const SPANS: readonly Span[] = [
  { mark: '**', tag: 'b', needsEdge: false },
  { mark: '__', tag: 'b', needsEdge: true },
  { mark: '~~', tag: 's', needsEdge: false },
  { mark: '*', tag: 'i', needsEdge: false },
  { mark: '_', tag: 'i', needsEdge: true },
]

const SPECIAL = /[\\`*_~[]/g
const ESCAPED = /[\\`*_~[\](){}#+.!>|-]/

/**
 * `open`: what is marked already around it and not marked again. The inside of a span never holds
 * its own mark, so this goes at most as many levels down as there are marks.
 */
function renderSpans(text: string, open: readonly Tag[]): string {
  const links = new Links(text)
  const missing = new Set<string>()
  let html = ''
  let from = 0
  for (let at = nextSpecial(text, 0); at >= 0; ) {
    const found =
      readEscaped(text, at) ??
      readCode(text, at, missing) ??
      links.read(at, open) ??
      readSpan(text, at, open, missing)
    if (found !== undefined) {
      html += escapeHtml(text.slice(from, at)) + found.html
      from = found.end
    }
    at = nextSpecial(text, found?.end ?? at + 1)
  }
  return html + escapeHtml(text.slice(from))
}

function nextSpecial(text: string, from: number): number {
  SPECIAL.lastIndex = from
  return SPECIAL.exec(text)?.index ?? -1
}

interface Rendered {
  readonly html: string
  readonly end: number
}

function readEscaped(text: string, at: number): Rendered | undefined {
  if (text[at] !== '\\') return undefined
  const next = text.charAt(at + 1)
  if (!ESCAPED.test(next)) return undefined
  return { html: escapeHtml(next), end: at + 2 }
}

const CODE_MARKS = ['```', '``', '`'] as const

function readCode(text: string, at: number, missing: Set<string>): Rendered | undefined {
  if (text[at] !== '`') return undefined
  const mark = CODE_MARKS.find((each) => text.startsWith(each, at)) ?? '`'
  const end = indexOf(text, mark, at + mark.length, missing)
  if (end <= at + mark.length) return undefined
  const code = escapeHtml(text.slice(at + mark.length, end))
  return { html: `<code>${code}</code>`, end: end + mark.length }
}

function readSpan(
  text: string,
  at: number,
  open: readonly Tag[],
  missing: Set<string>,
): Rendered | undefined {
  const span = SPANS.find(({ mark }) => text.startsWith(mark, at))
  if (span === undefined) return undefined
  const { mark, tag, needsEdge } = span
  const start = at + mark.length
  if (isBlank(text.charAt(start)) || (needsEdge && isWord(text.charAt(at - 1)))) return undefined
  const end = indexOf(text, mark, start, missing)
  if (end <= start || isBlank(text.charAt(end - 1))) return undefined
  const after = end + mark.length
  if (needsEdge && isWord(text.charAt(after))) return undefined
  const inner = renderSpans(text.slice(start, end), [...open, tag])
  return { html: open.includes(tag) ? inner : `<${tag}>${inner}</${tag}>`, end: after }
}

/** What was not found once is not there further on either. */
function indexOf(text: string, mark: string, from: number, missing: Set<string>): number {
  if (missing.has(mark)) return -1
  const found = text.indexOf(mark, from)
  if (found < 0) missing.add(mark)
  return found
}

const ADDRESS_CHARACTERS_MAX = 2_000
const ADDRESS = /^(?:https?:\/\/|mailto:|tg:\/\/)[^\s"<>]+$/

/** `[text](address)`: each end is looked for once; a middle belongs to the nearest `[` before it. */
class Links {
  readonly #text: string
  #middle = -2
  #opening = -1
  #end = -2

  constructor(text: string) {
    this.#text = text
  }

  read(at: number, open: readonly Tag[]): Rendered | undefined {
    if (this.#text[at] !== '[') return undefined
    if (this.#middle !== -1 && this.#middle < at) {
      this.#middle = this.#text.indexOf('](', at)
      this.#opening = this.#middle < 0 ? -1 : this.#text.lastIndexOf('[', this.#middle)
    }
    if (this.#opening !== at) return undefined
    const start = this.#middle + 2
    if (this.#end !== -1 && this.#end < start) this.#end = this.#text.indexOf(')', start)
    const end = this.#end
    if (end < 0 || end - start > ADDRESS_CHARACTERS_MAX) return undefined
    const address = this.#text.slice(start, end)
    if (!ADDRESS.test(address)) return undefined
    const label = renderSpans(this.#text.slice(at + 1, this.#middle), open)
    return { html: `<a href="${escapeHtml(address)}">${label}</a>`, end: end + 1 }
  }
}

function isBlank(character: string): boolean {
  return character === '' || /\s/.test(character)
}

function isWord(character: string): boolean {
  return character !== '' && /[\p{L}\p{N}_]/u.test(character)
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
