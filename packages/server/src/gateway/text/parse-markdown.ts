import MarkdownIt, { type Token } from 'markdown-it'

/**
 * Markdown as our own tree, for the terminal, the page and exports. HTML stays text, and line
 * breaks stay line breaks, as people and models write chats. markdown-it took linear time for every
 * hostile text we tried; other parsers took 36 s for 20 KB.
 */
export type MarkdownSpan =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis' | 'strike'; readonly children: readonly MarkdownSpan[] }
  | { readonly kind: 'link'; readonly href: string; readonly children: readonly MarkdownSpan[] }
  | { readonly kind: 'break' }

export type MarkdownBlock =
  | { readonly kind: 'heading'; readonly level: number; readonly children: readonly MarkdownSpan[] }
  | { readonly kind: 'paragraph'; readonly children: readonly MarkdownSpan[] }
  | { readonly kind: 'code'; readonly text: string; readonly language: string }
  | { readonly kind: 'quote'; readonly blocks: readonly MarkdownBlock[] }
  | {
      readonly kind: 'list'
      /** The first number; null: bullets. */
      readonly start: number | null
      readonly items: readonly (readonly MarkdownBlock[])[]
    }
  | {
      readonly kind: 'table'
      readonly head: readonly (readonly MarkdownSpan[])[]
      readonly rows: readonly (readonly (readonly MarkdownSpan[])[])[]
    }
  | { readonly kind: 'rule' }

export interface ParsedMarkdown {
  readonly blocks: readonly MarkdownBlock[]
  /** The line on which each block begins, from 0. */
  readonly starts: readonly number[]
}

/** Deeper nesting stays text, because each level uses stack. */
const NESTING_MAX = 40

let parser: ReturnType<typeof MarkdownIt> | undefined

export function parseMarkdown(text: string): ParsedMarkdown {
  parser ??= new MarkdownIt({ html: false, linkify: false, maxNesting: NESTING_MAX }).disable(
    'reference',
  )
  const reader = new TokenReader(parser.parse(text, {}), text.split(/\r\n?|\n/))
  const starts: number[] = []
  const blocks: MarkdownBlock[] = []
  for (let token = reader.peek(); token !== undefined; token = reader.peek()) {
    const block = readBlock(reader)
    if (block === null) continue
    starts.push(token.map?.[0] ?? 0)
    blocks.push(block)
  }
  return { blocks, starts }
}

class TokenReader {
  readonly #tokens: readonly Token[]
  readonly #lines: readonly string[]
  #at = 0

  constructor(tokens: readonly Token[], lines: readonly string[] = []) {
    this.#tokens = tokens
    this.#lines = lines
  }

  /** The lines that a block was made of. */
  linesOf({ map }: Token): readonly string[] {
    return map === null ? [] : this.#lines.slice(...map)
  }

  peek(): Token | undefined {
    return this.#tokens[this.#at]
  }

  next(): Token | undefined {
    const token = this.#tokens[this.#at]
    this.#at += 1
    return token
  }

  /** Applies `read` to the tokens up to the closing one, which it consumes as well. */
  until<Value>(close: string, read: () => Value | null): Value[] {
    const values: Value[] = []
    for (let token = this.peek(); token !== undefined; token = this.peek()) {
      if (token.type === close) {
        this.next()
        break
      }
      const value = read()
      if (value !== null) values.push(value)
    }
    return values
  }
}

/** Null: the token is not a block. */
function readBlock(reader: TokenReader): MarkdownBlock | null {
  const token = reader.next()
  switch (token?.type) {
    case 'heading_open': {
      const children = readInlineUntil(reader, 'heading_close')
      return { kind: 'heading', level: Number(token.tag.slice(1)), children }
    }
    case 'paragraph_open':
      return { kind: 'paragraph', children: readInlineUntil(reader, 'paragraph_close') }
    case 'fence':
    case 'code_block':
      return {
        kind: 'code',
        text: token.content.replace(/\n$/, ''),
        language: firstWord(token.info),
      }
    case 'blockquote_open':
      return { kind: 'quote', blocks: readInside(reader, token, 'blockquote_close') }
    case 'bullet_list_open':
      return { kind: 'list', start: null, items: readItems(reader, 'bullet_list_close') }
    case 'ordered_list_open': {
      const start = Number(token.attrGet('start') ?? 1)
      return { kind: 'list', start, items: readItems(reader, 'ordered_list_close') }
    }
    case 'table_open':
      return readTable(reader)
    case 'hr':
      return { kind: 'rule' }
    case 'inline':
      return { kind: 'paragraph', children: readInline(token) }
    default:
      return null
  }
}

function firstWord(info: string): string {
  return info.trim().split(' ', 1)[0] ?? ''
}

function readItems(reader: TokenReader, close: string): MarkdownBlock[][] {
  return reader.until(close, () => {
    const open = reader.next()
    return open === undefined ? null : withBox(readInside(reader, open, 'list_item_close'))
  })
}

const TASK_MARK = /^\[([ xX])\](?= )/

/** A task of a list (`- [x] done`) begins with a box. */
function withBox([first, ...rest]: readonly MarkdownBlock[]): MarkdownBlock[] {
  if (first?.kind !== 'paragraph') return first === undefined ? [] : [first, ...rest]
  const [lead, ...spans] = first.children
  if (lead?.kind !== 'text' || !TASK_MARK.test(lead.text)) return [first, ...rest]
  const text = lead.text.replace(TASK_MARK, (_, mark) => (mark === ' ' ? '☐' : '☑'))
  return [{ ...first, children: [{ ...lead, text }, ...spans] }, ...rest]
}

/** The blocks in a quote or a list item. markdown-it leaves out what is nested too deep: it stays as written. */
function readInside(reader: TokenReader, open: Token, close: string): MarkdownBlock[] {
  const blocks = reader.until(close, () => readBlock(reader))
  if (open.level + 1 < NESTING_MAX) return blocks
  const children = reader
    .linesOf(open)
    .flatMap((text, index): MarkdownSpan[] => [
      ...(index > 0 ? [{ kind: 'break' } as const] : []),
      { kind: 'text', text },
    ])
  return [{ kind: 'paragraph', children }]
}

function readTable(reader: TokenReader): MarkdownBlock {
  const rows = reader
    .until('table_close', () => (reader.next()?.type === 'tr_open' ? readRow(reader) : null))
    .filter((row) => row.length > 0)
  const [head = [], ...rest] = rows
  return { kind: 'table', head, rows: rest }
}

function readRow(reader: TokenReader): MarkdownSpan[][] {
  return reader.until('tr_close', () => {
    const open = reader.next()
    return readInlineUntil(reader, open?.type === 'th_open' ? 'th_close' : 'td_close')
  })
}

function readInlineUntil(reader: TokenReader, close: string): MarkdownSpan[] {
  return reader
    .until(close, () => {
      const token = reader.next()
      return token?.type === 'inline' ? readInline(token) : null
    })
    .flat()
}

function readInline({ children }: Token): MarkdownSpan[] {
  const reader = new TokenReader(children ?? [])
  return reader.until('', () => readSpan(reader))
}

function readSpan(reader: TokenReader): MarkdownSpan | null {
  const token = reader.next()
  const inside = (close: string) => reader.until(close, () => readSpan(reader))
  switch (token?.type) {
    case 'text':
    case 'html_inline':
      return token.content === '' ? null : { kind: 'text', text: token.content }
    case 'code_inline':
      return { kind: 'code', text: token.content }
    case 'softbreak':
    case 'hardbreak':
      return { kind: 'break' }
    case 'strong_open':
      return { kind: 'strong', children: inside('strong_close') }
    case 'em_open':
      return { kind: 'emphasis', children: inside('em_close') }
    case 's_open':
      return { kind: 'strike', children: inside('s_close') }
    case 'link_open':
      return {
        kind: 'link',
        href: String(token.attrGet('href') ?? ''),
        children: inside('link_close'),
      }
    // Images are never fetched: they become links with a name.
    case 'image': {
      const text = token.content || 'image'
      return {
        kind: 'link',
        href: String(token.attrGet('src') ?? ''),
        children: [{ kind: 'text', text }],
      }
    }
    default:
      return null
  }
}
