import { linkAddresses } from '../../server/src/gateway/text/addresses.ts'
import {
  type MarkdownBlock,
  type MarkdownSpan,
  parseMarkdown,
} from '../../server/src/gateway/text/parse-markdown.ts'

/** Without a limit, seven long messages blocked the page for 2.7 s. */
const ELEMENTS_MAX = 1_000

export interface MessageMarkdown {
  readonly blocks: readonly MarkdownBlock[]
  /** How many elements the page may still add, for colours in code. */
  readonly elementsLeft: number
  /** What needs more elements than the page draws, as it was written. */
  readonly rest: string
}

/** A message as the page draws it: with links for plain addresses, and only links that are safe to follow. */
export function readMessage(text: string): MessageMarkdown {
  const { blocks, starts } = parseMarkdown(text)
  const drawn: MarkdownBlock[] = []
  let elementsLeft = ELEMENTS_MAX
  for (const [index, each] of blocks.entries()) {
    const block = withLinks(each)
    const elements = elementsIn(block)
    if (elements > elementsLeft) {
      const rest = text
        .split(/\r\n?|\n/)
        .slice(starts[index])
        .join('\n')
      return { blocks: drawn, elementsLeft, rest }
    }
    elementsLeft -= elements
    drawn.push(block)
  }
  return { blocks: drawn, elementsLeft, rest: '' }
}

/** A box, the code in it and the button beside it. */
const CODE_ELEMENTS = 4

function elementsIn(block: MarkdownBlock): number {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return 1 + spanElements(block.children)
    case 'code':
      return CODE_ELEMENTS
    case 'quote':
      return 1 + sum(block.blocks, elementsIn)
    case 'list':
      return 1 + sum(block.items, (item) => 1 + sum(item, elementsIn))
    case 'table': {
      const rows = [block.head, ...block.rows]
      return 4 + sum(rows, (row) => 1 + sum(row, (cell) => 1 + spanElements(cell)))
    }
    case 'rule':
      return 1
    default:
      return block satisfies never
  }
}

function spanElements(spans: readonly MarkdownSpan[]): number {
  return sum(spans, (span) => {
    if ('children' in span) return 1 + spanElements(span.children)
    return span.kind === 'code' ? 1 : 0
  })
}

function sum<Value>(values: readonly Value[], of: (value: Value) => number): number {
  return values.reduce((total, value) => total + of(value), 0)
}

function withLinks(block: MarkdownBlock): MarkdownBlock {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return { ...block, children: linkSpans(block.children) }
    case 'quote':
      return { ...block, blocks: block.blocks.map(withLinks) }
    case 'list':
      return { ...block, items: block.items.map((item) => item.map(withLinks)) }
    case 'table':
      return {
        ...block,
        head: block.head.map(linkSpans),
        rows: block.rows.map((row) => row.map(linkSpans)),
      }
    default:
      return block
  }
}

const SAFE_ADDRESS = /^(?:https?|mailto):/i

function linkSpans(spans: readonly MarkdownSpan[]): readonly MarkdownSpan[] {
  return spans.flatMap((span): readonly MarkdownSpan[] => {
    if (span.kind === 'text') return linkAddresses(span.text)
    if (span.kind === 'link') return SAFE_ADDRESS.test(span.href) ? [span] : span.children
    return 'children' in span ? [{ ...span, children: linkSpans(span.children) }] : [span]
  })
}
