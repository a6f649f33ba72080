import { linkAddresses } from './addresses.ts'
import { isKnownLanguage } from './highlight.ts'
import type { MarkdownBlock, MarkdownSpan } from './parse-markdown.ts'
import { blocksOf, type WrittenEntry } from './written-entry.ts'

/**
 * Writes parsed Markdown as Markdown again. Every mark in the result is written here, and everything
 * in a message that another renderer could take for one is escaped: so renderers need not agree with
 * our parser about hostile text. Nothing becomes HTML, an image, a definition, or a link to anything
 * but the web and mail; images become links.
 */

export function headMarkdown(title: string, facts: string): string {
  return `${headingLine(1, escapeText(title))}\n\n${lineStart(escapeText(facts))}\n`
}

/** Its text is quoted, with headings below ours, so that it cannot imitate another speaker. */
export function entryMarkdown(entry: WrittenEntry): string {
  const heading = `\n${headingLine(HEADINGS_OURS, escapeText(entry.heading))}\n`
  const blocks = blocksOf(entry)
  if (blocks === null) return entry.note === null ? heading : `${heading}\n_${entry.note}_\n`
  const lines: string[] = []
  addBlock({ kind: 'quote', blocks }, '', lines)
  return `${heading}\n${lines.join('\n')}\n`
}

const HEADINGS_OURS = 3

/** Every line is added with its whole prefix, because adding one prefix per level takes time for deep nesting. */
function addBlocks(blocks: readonly MarkdownBlock[], prefix: string, lines: string[]): void {
  for (const [index, block] of blocks.entries()) {
    if (index > 0) lines.push(prefix.trimEnd())
    addBlock(block, prefix, lines)
  }
}

function addBlock(block: MarkdownBlock, prefix: string, lines: string[]): void {
  switch (block.kind) {
    case 'heading': {
      const level = Math.min(6, block.level + HEADINGS_OURS)
      const text = inlineText(block.children).replaceAll(HARD_BREAK, ' ')
      lines.push(prefix + headingLine(level, text))
      return
    }
    case 'paragraph': {
      const text = inlineText(block.children)
      const asRead = prefix.length > DEEP ? text.replaceAll(HARD_BREAK, ' ') : text
      for (const line of asRead.split('\n')) lines.push(prefix + lineStart(line))
      return
    }
    case 'code': {
      const fence = '`'.repeat(Math.max(3, longestBackticks(block.text) + 1))
      lines.push(prefix + fence + (isKnownLanguage(block.language) ? block.language : ''))
      for (const line of block.text.split('\n')) {
        lines.push(line === '' ? prefix.trimEnd() : prefix + line)
      }
      lines.push(prefix + fence)
      return
    }
    case 'quote': {
      if (block.blocks.length === 0) lines.push(`${prefix}>`)
      addBlocks(block.blocks, `${prefix}> `, lines)
      return
    }
    case 'list':
      for (const [index, item] of block.items.entries()) {
        const mark = block.start === null ? '- ' : `${Math.min(block.start + index, ORDINAL_MAX)}. `
        const first = lines.length
        addBlocks(item, prefix + ' '.repeat(mark.length), lines)
        const begun = lines[first]?.slice(prefix.length + mark.length) ?? ''
        lines[first] = `${prefix}${mark}${begun}`.trimEnd()
      }
      return
    case 'table': {
      const row = (cells: readonly string[]) => lines.push(`${prefix}| ${cells.join(' | ')} |`)
      row(block.head.map(cellText))
      row(block.head.map(() => '---'))
      for (const cells of block.rows) row(cells.map(cellText))
      return
    }
    case 'rule':
      lines.push(`${prefix}___`)
      return
    default:
      block satisfies never
  }
}

/** CommonMark reads no longer number as the beginning of a list. */
const ORDINAL_MAX = 999_999_999

/** Deeper, line breaks become spaces: a line of two characters could need a prefix of 400. */
const DEEP = 20

const HARD_BREAK = '  \n'

/** A number sign at the end would close the heading and be left out. */
function headingLine(level: number, text: string): string {
  const safe = text.endsWith('#') ? `${text.slice(0, -1)}\\#` : text
  return `${'#'.repeat(level)} ${safe}`.trimEnd()
}

/** What would begin a block is escaped, and white space would make code of the line or end the paragraph. */
function lineStart(line: string): string {
  if (line.trim() === '') return '&#32;'
  return line
    .replace(/^\s/, (space) => `&#${space.charCodeAt(0)};`)
    .replace(/^[#>+\-=:]/, '\\$&')
    .replace(/^(\d{1,9})([.)])/, '$1\\$2')
}

interface Surroundings {
  readonly inTable: boolean
  readonly inLink: boolean
}

const IN_PARAGRAPH: Surroundings = { inTable: false, inLink: false }
const IN_TABLE: Surroundings = { inTable: true, inLink: false }

function inlineText(
  spans: readonly MarkdownSpan[],
  surroundings: Surroundings = IN_PARAGRAPH,
): string {
  const pieces = (surroundings.inLink ? spans : spans.flatMap(withAddresses))
    .map((span) => spanText(span, surroundings))
    .filter((piece) => piece !== '')
  return pieces.map((piece, index) => keptApart(piece, pieces[index + 1] ?? '')).join('')
}

function withAddresses(span: MarkdownSpan): readonly MarkdownSpan[] {
  return span.kind === 'text' ? linkAddresses(span.text) : [span]
}

/** Two neighbours that would be read as one: an image, or code with other limits. */
function keptApart(piece: string, next: string): string {
  if (piece.endsWith('!') && next.startsWith('[')) return `${piece.slice(0, -1)}\\!`
  return piece.endsWith('`') && next.startsWith('`') ? `${piece} ` : piece
}

function spanText(span: MarkdownSpan, surroundings: Surroundings): string {
  switch (span.kind) {
    case 'text':
      return surroundings.inLink ? labelText(span.text) : escapeText(span.text)
    case 'code':
      return codeText(span.text, surroundings)
    case 'break':
      return HARD_BREAK
    case 'strong':
      return markedText('**', inlineText(span.children, surroundings))
    case 'emphasis':
      return markedText('*', inlineText(span.children, surroundings))
    case 'strike':
      return markedText('~~', inlineText(span.children, surroundings))
    case 'link':
      return linkText(span, surroundings)
    default:
      return span satisfies never
  }
}

/** In a table a bar ends the cell, also in code, where programs disagree about escapes; so do brackets in a link. */
function codeText(code: string, { inTable, inLink }: Surroundings): string {
  if (inLink && /[[\]`]/.test(code)) return labelText(code)
  if (inTable && code.includes('|')) return escapeText(code)
  const fence = '`'.repeat(longestBackticks(code) + 1)
  const space = /^[ `]|[ `]$/.test(code) ? ' ' : ''
  return fence + space + code + space + fence
}

/** White space inside a mark would stop it from being one, and `~~~~` would begin a code block. */
function markedText(mark: string, text: string): string {
  if (text === '' || (mark === '~~' && text.startsWith('~~'))) return text
  const inner = text.replace(/^\s|\s$/g, (space) => `&#${space.charCodeAt(0)};`)
  return mark + inner + mark
}

/** As markdown-it writes them: what is not in this list is encoded, or not ASCII. */
const LINKED = /^(?:https?|mailto):(?:[\w\-.~:/?#@!$&'()*+,;=%]|[^\p{ASCII}\s])*$/iu

function linkText(
  { href, children }: Extract<MarkdownSpan, { kind: 'link' }>,
  surroundings: Surroundings,
): string {
  const text = inlineText(children, { ...surroundings, inLink: true })
  if (surroundings.inLink) return text
  if (!LINKED.test(href)) return `\\[${text}\\](${escapeText(href)})`
  const [only] = children
  const isPlain = children.length === 1 && only?.kind === 'text' && only.text === href
  if (isPlain && !href.includes('&')) return `<${href}>`
  const address = href.replaceAll('(', '%28').replaceAll(')', '%29').replaceAll('&', '&amp;')
  return `[${text}](${address})`
}

function cellText(cell: readonly MarkdownSpan[]): string {
  return inlineText(cell, IN_TABLE).replaceAll('\\|', '&#124;')
}

/**
 * `<` and `&` as entities, because not every program knows `\<`. A brace begins attributes in Pandoc
 * and kramdown, and a dollar sign a formula on GitHub. Two slashes and `www.` begin an address on
 * GitHub, which would take the mark after it as well: that of code, for example.
 */
function escapeText(text: string): string {
  return text
    .replaceAll('\n', ' ')
    .replace(/&(?=#?\w{1,32};)/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replace(MARKS, '\\$&')
}

/** Some programs take the escapes of brackets off a link's text, and then read it as Markdown. */
function labelText(text: string): string {
  return escapeText(text).replaceAll('\\[', '&#91;').replaceAll('\\]', '&#93;')
}

const MARKS = /[\\`*[\]~$|{]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|\/(?=\/)|(?<=www)\./giu

function longestBackticks(text: string): number {
  let [longest, run] = [0, 0]
  for (const character of text) {
    run = character === '`' ? run + 1 : 0
    if (run > longest) longest = run
  }
  return longest
}
