import { highlight } from './highlight.ts'
import type { MarkdownBlock, MarkdownSpan } from './parse-markdown.ts'
import { blocksOf, type WrittenEntry } from './written-entry.ts'

/**
 * Markdown as HTML: all text is escaped, and only web and mail addresses become links. The text is
 * in a box of its own, and its headings rank below ours.
 */
export function entryHtml(entry: WrittenEntry): string {
  const heading = `<h2>${escapeHtml(entry.heading)}</h2>`
  const blocks = blocksOf(entry)
  if (blocks !== null) {
    return `${heading}\n<blockquote class="said">\n${blocks.map(blockHtml).join('\n')}\n</blockquote>`
  }
  return entry.note === null ? heading : `${heading}\n<p><em>${escapeHtml(entry.note)}</em></p>`
}

/** A page that loads nothing and runs no script. */
export async function* documentHtml(
  title: string,
  facts: string,
  entries: AsyncIterable<WrittenEntry>,
): AsyncGenerator<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(facts)}</p>
`
  for await (const entry of entries) yield `${entryHtml(entry)}\n`
  yield '</main>\n</body>\n</html>\n'
}

const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.55 system-ui,sans-serif;margin:0}
main{max-width:46rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
main>h2{margin-top:2rem;font-size:.85rem;opacity:.75}
pre{overflow:auto;padding:.75rem;border:1px solid #8886;border-radius:6px;font-size:.85rem}
table{border-collapse:collapse}td,th{border:1px solid #8886;padding:.25rem .5rem;text-align:left}
blockquote{margin-left:0;padding-left:1rem;border-left:3px solid #8886}
.said{margin:0;padding:.1rem 1rem;border:1px solid #8886;border-radius:6px}
.comment{opacity:.65}.string,.added{color:light-dark(#1a6b2c,#7ee08f)}
.number{color:light-dark(#8a5300,#e8b868)}.keyword{color:light-dark(#8b2589,#e59ce3)}
.removed{color:light-dark(#a31515,#ff9a94)}`

function blockHtml(block: MarkdownBlock): string {
  switch (block.kind) {
    case 'heading':
      return headingHtml(Math.min(6, block.level + HEADINGS_OURS), block.children)
    case 'paragraph':
      return `<p>${spansHtml(block.children)}</p>`
    case 'code':
      return `<pre><code>${codeHtml(block.text, block.language)}</code></pre>`
    case 'quote':
      return `<blockquote>${block.blocks.map(blockHtml).join('')}</blockquote>`
    case 'list': {
      const items = block.items.map((item) => `<li>${item.map(blockHtml).join('')}</li>`).join('')
      return block.start === null ? `<ul>${items}</ul>` : `<ol start="${block.start}">${items}</ol>`
    }
    case 'table': {
      const row = (cells: readonly (readonly MarkdownSpan[])[], tag: 'td' | 'th') =>
        `<tr>${cells.map((cell) => `<${tag}>${spansHtml(cell)}</${tag}>`).join('')}</tr>`
      return `<table>${row(block.head, 'th')}${block.rows.map((cells) => row(cells, 'td')).join('')}</table>`
    }
    case 'rule':
      return '<hr>'
    default:
      return block satisfies never
  }
}

/** The title, and a heading for each entry. */
const HEADINGS_OURS = 2

function headingHtml(level: number, children: readonly MarkdownSpan[]): string {
  return `<h${level}>${spansHtml(children)}</h${level}>`
}

function codeHtml(text: string, language: string): string {
  return highlight(text, language)
    .map(({ kind, text: piece }) =>
      kind === 'plain' ? escapeHtml(piece) : `<span class="${kind}">${escapeHtml(piece)}</span>`,
    )
    .join('')
}

function spansHtml(children: readonly MarkdownSpan[]): string {
  return children.map(spanHtml).join('')
}

function spanHtml(span: MarkdownSpan): string {
  switch (span.kind) {
    case 'text':
      return escapeHtml(span.text)
    case 'code':
      return `<code>${escapeHtml(span.text)}</code>`
    case 'break':
      return '<br>'
    case 'strong':
      return `<strong>${spansHtml(span.children)}</strong>`
    case 'emphasis':
      return `<em>${spansHtml(span.children)}</em>`
    case 'strike':
      return `<s>${spansHtml(span.children)}</s>`
    case 'link':
      return /^(?:https?|mailto):/i.test(span.href)
        ? `<a href="${escapeHtml(span.href)}" rel="noopener noreferrer">${spansHtml(span.children)}</a>`
        : spansHtml(span.children)
    default:
      return span satisfies never
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' },
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
}
