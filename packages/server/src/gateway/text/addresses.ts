import type { MarkdownSpan } from './parse-markdown.ts'

const ADDRESS = /https?:\/\/[^\s<>"'`()[\]{}]{1,2000}/g

/** Addresses that stand in the text as they are. */
export function linkAddresses(text: string): MarkdownSpan[] {
  const spans: MarkdownSpan[] = []
  let done = 0
  const addText = (to: number) => {
    if (to > done) spans.push({ kind: 'text', text: text.slice(done, to) })
  }
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const href = found.replace(/[.,;:!?]$/, '')
    if (!URL.canParse(href)) continue
    addText(index)
    spans.push({ kind: 'link', href, children: [{ kind: 'text', text: href }] })
    done = index + href.length
  }
  addText(text.length)
  return spans
}
