import { isFence } from '../chat/code-fence.ts'
import { type InlineMark, readMarks, type Tag } from '../chat/inline.ts'

/**
 * Markdown as models write it, in Telegram's HTML. The result is well-formed for any input:
 * everything is escaped, and an unpaired mark stays a plain character. One pass over the text; no
 * search runs twice from the same offset.
 */
export function renderTelegramHtml(markdown: string): string {
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
  // Columns line up only in a fixed-width font.
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

/** `open`: tags that already surround the text and must not be repeated. */
function renderSpans(text: string, open: readonly Tag[]): string {
  return renderMarked(text, { marks: readMarks(text), from: 0, to: text.length, open })
}

function renderMarked(
  text: string,
  inner: {
    readonly marks: readonly InlineMark[]
    readonly from: number
    readonly to: number
    readonly open: readonly Tag[]
  },
): string {
  let html = ''
  let { from } = inner
  for (const mark of inner.marks) {
    html += escapeHtml(text.slice(from, mark.from)) + renderMark(text, mark, inner.open)
    from = mark.to
  }
  return html + escapeHtml(text.slice(from, inner.to))
}

function renderMark(text: string, mark: InlineMark, open: readonly Tag[]): string {
  const { kind, innerFrom: from, innerTo: to, marks } = mark
  switch (kind) {
    case 'escaped':
      return escapeHtml(text.slice(from, to))
    case 'code':
      return `<code>${escapeHtml(text.slice(from, to))}</code>`
    case 'link': {
      const label = renderMarked(text, { marks, from, to, open })
      return `<a href="${escapeHtml(mark.address ?? '')}">${label}</a>`
    }
    default: {
      const html = renderMarked(text, { marks, from, to, open: [...open, kind] })
      return open.includes(kind) ? html : `<${kind}>${html}</${kind}>`
    }
  }
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
