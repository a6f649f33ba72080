import { type MarkdownBlock, parseMarkdown } from './parse-markdown.ts'

/** An entry of a transcript, for people. */
export interface WrittenEntry {
  readonly heading: string
  /** Null: the note says why there is none; without a note, the heading says all. */
  readonly text: string | null
  /** The text is Markdown, or, as what a tool returned, shown as it is. */
  readonly isMarkdown: boolean
  readonly note: string | null
}

/** Null: the entry has no text. */
export function blocksOf({ text, isMarkdown }: WrittenEntry): readonly MarkdownBlock[] | null {
  if (text === null) return null
  if (isMarkdown) return parseMarkdown(text).blocks
  return [{ kind: 'code', text: text.replaceAll('\r\n', '\n'), language: '' }]
}
