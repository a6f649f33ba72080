import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'
import { type CodeKind, highlight } from '../../gateway/text/highlight.ts'
import type { MarkdownBlock, MarkdownSpan } from '../../gateway/text/parse-markdown.ts'
import type { Colour, Paint } from './colours.ts'

export interface MarkdownStyle {
  readonly columns: number
  readonly paint: Paint
}

/** Markdown as lines that fit the terminal. A blank line separates two blocks. */
export function drawBlocks(
  blocks: readonly MarkdownBlock[],
  style: MarkdownStyle,
): readonly string[] {
  return blocks.flatMap((block, index) => [...(index > 0 ? [''] : []), ...drawBlock(block, style)])
}

/** Breaks between words, or inside a word wider than the terminal. Keeps indentation. */
export function wrapWords(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const indent = /^ */.exec(line)?.[0].slice(0, Math.floor(columns / 2)) ?? ''
    const width = Math.max(1, columns - indent.length)
    const rows = wrapAnsi(line.slice(indent.length), width, { hard: true }).split('\n')
    return rows.map((row) => `${indent}${row}`.trimEnd())
  })
}

function drawBlock(block: MarkdownBlock, style: MarkdownStyle): readonly string[] {
  const { columns, paint } = style
  switch (block.kind) {
    case 'heading': {
      const marks: readonly Colour[] = block.level === 1 ? ['bold', 'underline'] : ['bold']
      const text = marks.reduce((out, mark) => paint(mark, out), inlineText(block.children, paint))
      return wrapWords(text, columns)
    }
    case 'paragraph':
      return wrapWords(inlineText(block.children, paint), columns)
    case 'code':
      return drawCode(block, style)
    case 'quote':
      return beside(paint('dim', '│ '), paint('dim', '│ '), block.blocks, style)
    case 'list':
      return block.items.flatMap((item, index) => {
        const mark = block.start === null ? '• ' : `${block.start + index}. `
        return beside(mark, ' '.repeat(mark.length), item, style, { isTight: true })
      })
    case 'table':
      return drawTable(block, style)
    case 'rule':
      return [paint('dim', '─'.repeat(Math.min(columns, RULE_COLUMNS)))]
    default:
      return block satisfies never
  }
}

const RULE_COLUMNS = 40

/** Blocks with one prefix on the first line and another on the following lines. */
function beside(
  first: string,
  other: string,
  blocks: readonly MarkdownBlock[],
  style: MarkdownStyle,
  { isTight = false } = {},
): readonly string[] {
  const inner = { ...style, columns: Math.max(8, style.columns - stringWidth(first)) }
  const lines = isTight
    ? blocks.flatMap((block) => drawBlock(block, inner))
    : drawBlocks(blocks, inner)
  const drawn = lines.length === 0 ? [''] : lines
  return drawn.map((line, index) => `${index === 0 ? first : other}${line}`)
}

const CODE_COLOURS: Readonly<Record<CodeKind, Colour | null>> = {
  plain: null,
  comment: 'dim',
  string: 'green',
  number: 'yellow',
  keyword: 'magenta',
  added: 'green',
  removed: 'red',
}

function drawCode(
  { text, language }: Extract<MarkdownBlock, { kind: 'code' }>,
  { columns, paint }: MarkdownStyle,
): readonly string[] {
  const painted = highlight(text.replaceAll('\t', '    '), language)
    .map((span) => {
      const colour = CODE_COLOURS[span.kind]
      // Line by line: a colour that spans lines would run into the text beside them.
      const lines = span.text.split('\n')
      return lines
        .map((line) => (colour === null || line === '' ? line : paint(colour, line)))
        .join('\n')
    })
    .join('')
  return painted
    .split('\n')
    .flatMap((line) =>
      wrapAnsi(line, Math.max(8, columns - 2), { hard: true, wordWrap: false, trim: false }).split(
        '\n',
      ),
    )
    .map((line) => `  ${line}`.trimEnd())
}

function drawTable(
  { head, rows }: Extract<MarkdownBlock, { kind: 'table' }>,
  { columns, paint }: MarkdownStyle,
): readonly string[] {
  const headCells = head.map((cell) => paint('bold', inlineText(cell, paint)))
  const cells = [headCells, ...rows.map((row) => row.map((cell) => inlineText(cell, paint)))]
  const widths = fitWidths(
    head.map((_cell, index) => Math.max(1, ...cells.map((row) => stringWidth(row[index] ?? '')))),
    columns - SEPARATOR.length * (head.length - 1),
  )
  const drawn = cells.map((row) => drawRow(row, widths, paint))
  const rule = widths.map((width) => '─'.repeat(width)).join('─┼─')
  return [...(drawn[0] ?? []), paint('dim', rule), ...drawn.slice(1).flat()]
}

const SEPARATOR = ' │ '

/** The widest columns shrink first. */
function fitWidths(wanted: readonly number[], columns: number): readonly number[] {
  const widths = [...wanted]
  let total = widths.reduce((sum, width) => sum + width, 0)
  while (total > columns) {
    const widest = widths.indexOf(Math.max(...widths))
    const width = widths[widest] ?? 0
    if (width <= 1) break
    widths[widest] = width - 1
    total -= 1
  }
  return widths
}

function drawRow(
  row: readonly string[],
  widths: readonly number[],
  paint: Paint,
): readonly string[] {
  const wrapped = widths.map((width, index) => wrapWords(row[index] ?? '', width))
  const height = Math.max(1, ...wrapped.map((lines) => lines.length))
  return Array.from({ length: height }, (_none, at) =>
    wrapped
      .map((lines, index) => padTo(lines[at] ?? '', widths[index] ?? 0))
      .join(paint('dim', SEPARATOR))
      .trimEnd(),
  )
}

function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)))
}

function inlineText(children: readonly MarkdownSpan[], paint: Paint): string {
  return children.map((child) => spanText(child, paint)).join('')
}

function spanText(span: MarkdownSpan, paint: Paint): string {
  switch (span.kind) {
    case 'text':
      return span.text
    case 'code':
      return paint('cyan', span.text)
    case 'break':
      return '\n'
    case 'strong':
      return paint('bold', inlineText(span.children, paint))
    case 'emphasis':
      return paint('italic', inlineText(span.children, paint))
    case 'strike':
      return paint('strikethrough', inlineText(span.children, paint))
    case 'link': {
      const text = inlineText(span.children, paint)
      return text === span.href ? text : `${text} (${paint('underline', span.href)})`
    }
    default:
      return span satisfies never
  }
}
