import { plainText } from '#core/message/text'
import { parseMarkdown } from '../../../gateway/text/parse-markdown.ts'
import type { Session, TranscriptEntry } from '../../../runtime/runtime.ts'
import { turnEndText } from '../../terminal/answers.ts'
import { ago, countText } from '../../terminal/format.ts'
import { drawBlocks, type MarkdownStyle, wrapWords } from '../../terminal/markdown.ts'
import { printable } from '../../terminal/printable.ts'
import { shorten } from '../../terminal/transcript-text.ts'

/** Messages shown, and entries read to find them: calls and results come between. */
const MESSAGES_MAX = 4
const ENTRIES_MAX = 60
const LINES_MAX = 12

/** Where the conversation stopped: its title and its last messages. Empty for a new one. */
export async function recentLines(
  session: Pick<Session, 'summary' | 'transcript'>,
  { agent, ...style }: MarkdownStyle & { readonly agent: string },
): Promise<readonly string[]> {
  const summary = await session.summary()
  if (summary === undefined) return []
  const from = Math.max(1, summary.entries - ENTRIES_MAX)
  const entries = (await session.transcript({ from, to: summary.entries })) ?? []
  const shown = entries.filter((entry) => isSaid(entry) || unansweredText(entry) !== null)
  const messages = shown.filter(isSaid)
  const first = messages.at(-MESSAGES_MAX) ?? messages[0]
  if (first === undefined) return []
  const { paint } = style
  const title = printable(summary.title ?? 'Untitled')
  const when = `${countText(summary.entries, 'entry', 'entries')}, last ${ago(messages.at(-1)?.at ?? 0, Date.now())}`
  return [
    `${paint('bold', title)} ${paint('dim', `(${when})`)}`,
    ...shown.slice(shown.indexOf(first)).flatMap((entry) => {
      const ended = unansweredText(entry)
      return ended === null ? ['', ...drawMessage(entry, agent, style)] : [paint('dim', ended)]
    }),
  ]
}

function isSaid(entry: TranscriptEntry): boolean {
  return (entry.kind === 'input' || entry.kind === 'assistant') && textIn(entry) !== ''
}

/** The end of a turn without an answer: without it, the text before would look like one. */
function unansweredText({ kind, meta }: TranscriptEntry): string | null {
  return kind === 'turn' && 'ended' in meta ? turnEndText(meta.ended) : null
}

function textIn({ message }: TranscriptEntry): string {
  if (message?.role !== 'user' && message?.role !== 'assistant') return ''
  return printable(plainText(message.parts)).trim()
}

function drawMessage(
  entry: TranscriptEntry,
  agent: string,
  style: MarkdownStyle,
): readonly string[] {
  const text = textIn(entry)
  if (entry.kind === 'input') {
    const lines = text.split('\n').flatMap((line) => wrapWords(line, style.columns - 2))
    const drawn = lines.map((line, index) => `${index === 0 ? '> ' : '  '}${line}`)
    return shorten(drawn, LINES_MAX).map((line) => style.paint('dim', line))
  }
  const lines = drawBlocks(parseMarkdown(text).blocks, style)
  return [style.paint('cyan', printable(agent)), ...shorten(lines, LINES_MAX)]
}
