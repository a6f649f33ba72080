import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { highlight } from '../../server/src/gateway/text/highlight.ts'
import type { MarkdownBlock, MarkdownSpan } from '../../server/src/gateway/text/parse-markdown.ts'
import { readMessage } from '../data/message-markdown.ts'

/**
 * A message as Markdown: CommonMark and tables. Everything becomes text nodes; no part of a message
 * is ever parsed as HTML, and only web and mail addresses become links.
 */
const TEXT_MAX = 20_000

/** A growing text that is too long to be shown whole shows its end. */
export function Prose(props: { readonly text: string; readonly isGrowing?: boolean }) {
  const { text, isGrowing = false } = props
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > TEXT_MAX && !isWhole
  const visible = isGrowing ? text.slice(-TEXT_MAX) : text.slice(0, TEXT_MAX)
  const shown = isLong ? visible : text
  const drawn = useMemo(() => drawMessage(shown), [shown])
  const more = isLong && <More length={text.length} onClick={() => setWhole(true)} />
  return (
    <div class="said" dir="auto">
      {isGrowing && more}
      {drawn}
      {!isGrowing && more}
    </div>
  )
}

/** Text that is not prose: results, arguments, instructions. */
export function Verbatim({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > TEXT_MAX && !isWhole
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre class="verbatim" tabIndex={0}>
        {isLong ? text.slice(0, TEXT_MAX) : text}
      </pre>
      {isLong && <More length={text.length} onClick={() => setWhole(true)} />}
    </>
  )
}

function More({ length, onClick }: { readonly length: number; readonly onClick: () => void }) {
  return (
    <button type="button" class="quiet" onClick={onClick}>
      Show all {length.toLocaleString('en')} characters
    </button>
  )
}

/** How many more elements a message may become. */
interface ElementBudget {
  elements: number
}

function drawMessage(text: string): ComponentChildren {
  const { blocks, elementsLeft, rest } = readMessage(text)
  const budget: ElementBudget = { elements: elementsLeft }
  return (
    <>
      {blocks.map((block) => drawBlock(block, budget))}
      {rest !== '' && <p>{rest}</p>}
    </>
  )
}

function drawBlock(block: MarkdownBlock, budget: ElementBudget): ComponentChildren {
  const drawAll = (blocks: readonly MarkdownBlock[]) =>
    blocks.map((each) => drawBlock(each, budget))
  switch (block.kind) {
    case 'heading': {
      // The title of the session is the heading of the first level.
      const Heading = `h${Math.min(6, block.level + 1)}` as 'h2'
      return <Heading>{drawSpans(block.children)}</Heading>
    }
    case 'paragraph':
      return <p>{drawSpans(block.children)}</p>
    case 'code':
      return <Code text={block.text}>{drawCode(block, budget)}</Code>
    case 'quote':
      return <blockquote>{drawAll(block.blocks)}</blockquote>
    case 'list': {
      const items = block.items.map((item) => <li>{drawAll(item)}</li>)
      return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>
    }
    case 'table':
      return <MessageTable table={block} />
    case 'rule':
      return <hr />
    default:
      return block satisfies never
  }
}

function MessageTable({ table }: { readonly table: Extract<MarkdownBlock, { kind: 'table' }> }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.head.map((cell) => (
              <th scope="col">{drawSpans(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{drawSpans(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** In colours as far as the budget goes. */
function drawCode(
  { text, language }: Extract<MarkdownBlock, { kind: 'code' }>,
  budget: ElementBudget,
): ComponentChildren {
  const spans = highlight(text, language)
  if (spans.length > budget.elements) return text
  budget.elements -= spans.length
  return spans.map((span) =>
    span.kind === 'plain' ? span.text : <span class={`code-${span.kind}`}>{span.text}</span>,
  )
}

function Code(props: { readonly text: string; readonly children: ComponentChildren }) {
  const { text, children } = props
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    // Without a secure address browsers have no clipboard; then the button stays as it is.
    await navigator.clipboard?.writeText(text)
    setCopied(navigator.clipboard !== undefined)
  }
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre class="code" tabIndex={0}>
        <code>{children}</code>
      </pre>
      <button type="button" class="quiet" onClick={() => void copy()}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}

const drawSpans = (spans: readonly MarkdownSpan[]): ComponentChildren => spans.map(drawSpan)

function drawSpan(span: MarkdownSpan): ComponentChildren {
  switch (span.kind) {
    case 'text':
      return span.text
    case 'code':
      return <code>{span.text}</code>
    case 'break':
      return '\n'
    case 'strong':
      return <strong>{drawSpans(span.children)}</strong>
    case 'emphasis':
      return <em>{drawSpans(span.children)}</em>
    case 'strike':
      return <s>{drawSpans(span.children)}</s>
    case 'link':
      return (
        <a href={span.href} target="_blank" rel="noopener noreferrer">
          {drawSpans(span.children)}
        </a>
      )
    default:
      return span satisfies never
  }
}
