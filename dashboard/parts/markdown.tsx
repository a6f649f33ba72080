import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/**
 * Text as it was said, with the little of Markdown that helps reading: code, emphasis, headings and
 * web addresses. Everything becomes text nodes; nothing of a message is ever parsed as HTML, and no
 * address but http and https becomes a link. Linear in the length of the text.
 */
const SHOWN_MAX = 20_000

export function Said({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > SHOWN_MAX && !isWhole
  return (
    <div class="said">
      {blocks(isLong ? text.slice(0, SHOWN_MAX) : text)}
      {isLong && <More length={text.length} onClick={() => setWhole(true)} />}
    </div>
  )
}

/** Text that is no prose: results, arguments, instructions. */
export function Verbatim({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > SHOWN_MAX && !isWhole
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre class="verbatim" tabIndex={0}>
        {isLong ? text.slice(0, SHOWN_MAX) : text}
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

function blocks(text: string): ComponentChildren[] {
  const out: ComponentChildren[] = []
  let lines: string[] = []
  const flush = () => {
    const prose = lines.join('\n')
    if (prose !== '') out.push(<p>{inline(prose)}</p>)
    lines = []
  }
  let code: string[] | null = null
  for (const line of text.split('\n')) {
    const isFence = line.trimStart().startsWith('```')
    if (code !== null) {
      if (isFence) {
        out.push(<Code text={code.join('\n')} />)
        code = null
      } else code.push(line)
    } else if (isFence) {
      flush()
      code = []
    } else if (/^#{1,6} /.test(line)) {
      flush()
      out.push(<p class="heading">{inline(line.slice(line.indexOf(' ') + 1))}</p>)
    } else if (line === '') flush()
    else lines.push(line)
  }
  flush()
  if (code !== null) out.push(<Code text={code.join('\n')} />)
  return out
}

function Code({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre class="code" tabIndex={0}>
      <code>{text}</code>
    </pre>
  )
}

function inline(text: string): ComponentChildren[] {
  const out: ComponentChildren[] = []
  let rest = 0
  // A mark without a partner is searched for once: from then on it is text.
  const isOver: Record<string, boolean> = {}
  for (let at = 0; at < text.length; ) {
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
    out.push(...withLinks(text.slice(rest, at)))
    const inner = text.slice(at + mark.length, end)
    out.push(mark === '`' ? <code>{inner}</code> : <strong>{inner}</strong>)
    at = end + mark.length
    rest = at
  }
  out.push(...withLinks(text.slice(rest)))
  return out
}

const ADDRESS = /https?:\/\/[^\s<>"'`()[\]{}]{1,2000}/g

function withLinks(text: string): ComponentChildren[] {
  const out: ComponentChildren[] = []
  let rest = 0
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const href = found.replace(/[.,;:!?]$/, '')
    if (!URL.canParse(href)) continue
    out.push(
      text.slice(rest, index),
      <a href={href} target="_blank" rel="noopener noreferrer">
        {href}
      </a>,
    )
    rest = index + href.length
  }
  out.push(text.slice(rest))
  return out
}
