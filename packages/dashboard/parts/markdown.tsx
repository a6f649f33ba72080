import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/**
 * Text as it was said, with the little of Markdown that helps reading: code, emphasis, headings and
 * web addresses. Everything becomes text nodes; nothing of a message is ever parsed as HTML, and no
 * address but http and https becomes a link. Linear in the length of the text; what has more marks
 * than a page can bear is plain from there on.
 */
const SHOWN_MAX = 20_000
/** Seven messages of as many paragraphs as fit held the page for 2.7 s; of 500 they are not felt. */
const PIECES_MAX = 500

/** Of a text that is being written its end is shown, where it is too long to be shown whole. */
export function Said(props: { readonly text: string; readonly isGrowing?: boolean }) {
  const { text, isGrowing = false } = props
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > SHOWN_MAX && !isWhole
  const shown = isGrowing ? text.slice(-SHOWN_MAX) : text.slice(0, SHOWN_MAX)
  const more = isLong && <More length={text.length} onClick={() => setWhole(true)} />
  return (
    <div class="said" dir="auto">
      {isGrowing && more}
      {blocks(isLong ? shown : text)}
      {!isGrowing && more}
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

/** How many more elements may be made of a text. */
interface Room {
  pieces: number
}

function blocks(text: string): ComponentChildren[] {
  const out: ComponentChildren[] = []
  const room: Room = { pieces: PIECES_MAX }
  const add = (block: ComponentChildren) => {
    room.pieces--
    out.push(block)
  }
  let lines: string[] = []
  const flush = () => {
    const prose = lines.join('\n')
    if (prose !== '') add(<p>{inline(prose, room)}</p>)
    lines = []
  }
  let code: string[] | null = null
  const all = text.split('\n')
  for (const [index, line] of all.entries()) {
    if (room.pieces <= 0 && code === null) {
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
      add(<p class="heading">{inline(line.slice(line.indexOf(' ') + 1), room)}</p>)
    } else if (line === '') flush()
    else lines.push(line)
  }
  flush()
  if (code !== null) add(<Code text={code.join('\n')} />)
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

function inline(text: string, room: Room): ComponentChildren[] {
  const out: ComponentChildren[] = []
  let rest = 0
  // A mark without a partner is searched for once: from then on it is text.
  const isOver: Record<string, boolean> = {}
  for (let at = 0; at < text.length && room.pieces > 0; ) {
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
    out.push(...withLinks(text.slice(rest, at), room))
    const inner = text.slice(at + mark.length, end)
    out.push(mark === '`' ? <code>{inner}</code> : <strong>{inner}</strong>)
    room.pieces--
    at = end + mark.length
    rest = at
  }
  out.push(...withLinks(text.slice(rest), room))
  return out
}

const ADDRESS = /https?:\/\/[^\s<>"'`()[\]{}]{1,2000}/g

function withLinks(text: string, room: Room): ComponentChildren[] {
  const out: ComponentChildren[] = []
  let rest = 0
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    if (room.pieces <= 0) break
    const href = found.replace(/[.,;:!?]$/, '')
    if (!URL.canParse(href)) continue
    out.push(
      text.slice(rest, index),
      <a href={href} target="_blank" rel="noopener noreferrer">
        {href}
      </a>,
    )
    room.pieces--
    rest = index + href.length
  }
  out.push(text.slice(rest))
  return out
}
