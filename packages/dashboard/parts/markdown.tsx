import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/**
 * A message with the Markdown that helps reading: code, emphasis, headings and web addresses.
 * Everything becomes text nodes; no part of a message is ever parsed as HTML, and only http and https
 * addresses become links. Linear in the length of the text; past the element limit, the rest is plain.
 */
const TEXT_MAX = 20_000
/** Without a limit, seven long messages blocked the page for 2.7 s; with 500 there is no delay. */
const ELEMENTS_MAX = 500

/** A growing text that is too long to be shown whole shows its end. */
export function Prose(props: { readonly text: string; readonly isGrowing?: boolean }) {
  const { text, isGrowing = false } = props
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > TEXT_MAX && !isWhole
  const visible = isGrowing ? text.slice(-TEXT_MAX) : text.slice(0, TEXT_MAX)
  const more = isLong && <More length={text.length} onClick={() => setWhole(true)} />
  return (
    <div class="said" dir="auto">
      {isGrowing && more}
      {blocks(isLong ? visible : text)}
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

/** How many more elements a text may become. */
interface ElementBudget {
  elements: number
}

function blocks(text: string): ComponentChildren[] {
  const out: ComponentChildren[] = []
  const budget: ElementBudget = { elements: ELEMENTS_MAX }
  const add = (block: ComponentChildren) => {
    budget.elements--
    out.push(block)
  }
  let lines: string[] = []
  const flush = () => {
    const prose = lines.join('\n')
    if (prose !== '') add(<p>{inline(prose, budget)}</p>)
    lines = []
  }
  let code: string[] | null = null
  const all = text.split('\n')
  for (const [index, line] of all.entries()) {
    if (budget.elements <= 0 && code === null) {
      out.push(<p>{all.slice(index - lines.length).join('\n')}</p>)
      return out
    }
    const isFence = line.trimStart().startsWith('```')
    if (code !== null) {
      if (isFence) {
        add(<Code text={code.join('\n')} />)
        code = null
      } else code.push(line)
    } else if (isFence) {
      flush()
      code = []
    } else if (/^#{1,6} /.test(line)) {
      flush()
      add(<p class="heading">{inline(line.slice(line.indexOf(' ') + 1), budget)}</p>)
    } else if (line === '') flush()
    else lines.push(line)
  }
  flush()
  if (code !== null) add(<Code text={code.join('\n')} />)
  return out
}

function Code({ text }: { readonly text: string }) {
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
        <code>{text}</code>
      </pre>
      <button type="button" class="quiet" onClick={() => void copy()}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}

function inline(text: string, budget: ElementBudget): ComponentChildren[] {
  const out: ComponentChildren[] = []
  let rest = 0
  // An unpaired mark is searched for once; after that, such marks are plain text.
  const isOver: Record<string, boolean> = {}
  for (let at = 0; at < text.length && budget.elements > 0; ) {
    const mark = text[at] === '`' ? '`' : text.startsWith('**', at) ? '**' : null
    if (mark === null || isOver[mark]) {
      at += 1
      continue
    }
    const end = text.indexOf(mark, at + mark.length)
    if (end === -1 || end === at + mark.length) {
      isOver[mark] = end === -1
      at += mark.length
      continue
    }
    out.push(...withLinks(text.slice(rest, at), budget))
    const inner = text.slice(at + mark.length, end)
    out.push(mark === '`' ? <code>{inner}</code> : <strong>{inner}</strong>)
    budget.elements--
    at = end + mark.length
    rest = at
  }
  out.push(...withLinks(text.slice(rest), budget))
  return out
}

const ADDRESS = /https?:\/\/[^\s<>"'`()[\]{}]{1,2000}/g

function withLinks(text: string, budget: ElementBudget): ComponentChildren[] {
  const out: ComponentChildren[] = []
  let rest = 0
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    if (budget.elements <= 0) break
    const href = found.replace(/[.,;:!?]$/, '')
    if (!URL.canParse(href)) continue
    out.push(
      text.slice(rest, index),
      <a href={href} target="_blank" rel="noopener noreferrer">
        {href}
      </a>,
    )
    budget.elements--
    rest = index + href.length
  }
  out.push(text.slice(rest))
  return out
}
