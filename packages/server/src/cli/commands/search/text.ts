import { oneLine, splitsCharacter } from '#core/base/line'
import { textOf } from '#core/message/text'
import { type Highlight, highlightsIn } from '#core/store/search/highlights/highlights'
import type { Found, TranscriptEntry } from '../../../runtime/runtime.ts'
import type { Paint } from '../../terminal/colours.ts'
import { moment, speakerOf } from '../../terminal/format.ts'
import { printable } from '../../terminal/printable.ts'

type SearchedText = Parameters<typeof highlightsIn>[1]

/** One hit in two lines: its entry, and the part of its text with most of the matches. */
export function drawFound(
  { sessionId, excerpt: best, entry, before, after }: Found,
  { query, paint }: { readonly query: SearchedText; readonly paint: Paint },
): string {
  const where = `${sessionId} ${paint('bold', `#${entry.number}`)} ${speakerOf(entry)}`
  const compacted = entry.isCovered ? paint('dim', ', compacted away') : ''
  const lines = [
    `${where}${compacted}${paint('dim', `  ${moment(entry.at)}`)}`,
    ...before.map((near) => `    ${paint('dim', neighbourLine(near))}`),
    `    ${excerpt(oneLine(printable(best)) || textIn(entry), query, paint)}`,
    ...after.map((near) => `    ${paint('dim', neighbourLine(near))}`),
  ]
  return `${lines.join('\n')}\n`
}

const EXCERPT_CHARACTERS_MAX = 160
/** Characters before the word. */
const LEAD = 60

function neighbourLine(entry: TranscriptEntry): string {
  return `#${entry.number} ${speakerOf(entry)}: ${beginning(textIn(entry))}`
}

function beginning(text: string): string {
  const { end } = windowIn(text, 0)
  return `${text.slice(0, end)}${end < text.length ? '…' : ''}`
}

function excerpt(text: string, query: SearchedText, paint: Paint): string {
  // Computed again, because the printed text has no line breaks and thus other offsets.
  const highlights = highlightsIn(text, query)
  const { start, end } = windowIn(text, Math.max(0, bestStart(highlights) - LEAD))
  const inside = highlights.filter(({ from, to }) => from >= start && to <= end)
  const pieces = inside.map(({ from, to }, at) => {
    const between = text.slice(inside[at - 1]?.to ?? start, from)
    return between + paint('yellow', text.slice(from, to))
  })
  const rest = text.slice(inside.at(-1)?.to ?? start, end)
  return `${start > 0 ? '…' : ''}${pieces.join('')}${rest}${end < text.length ? '…' : ''}`
}

/** The start of the window with most matches; of equals the first. */
function bestStart(highlights: readonly Highlight[]): number {
  const room = EXCERPT_CHARACTERS_MAX - LEAD
  const behind = highlights.map(
    ({ from }) => highlights.filter((each) => each.from >= from && each.to <= from + room).length,
  )
  return highlights[behind.indexOf(Math.max(...behind))]?.from ?? 0
}

function windowIn(text: string, from: number): { readonly start: number; readonly end: number } {
  const start = splitsCharacter(text, from) ? from + 1 : from
  const end = Math.min(text.length, start + EXCERPT_CHARACTERS_MAX)
  return { start, end: splitsCharacter(text, end) ? end - 1 : end }
}

function textIn({ message, body }: TranscriptEntry): string {
  const text = message === null ? asText(body) : textOf(message)
  return oneLine(printable(text))
}

function asText(body: TranscriptEntry['body']): string {
  if (body === null) return ''
  return typeof body === 'string' ? body : JSON.stringify(body)
}
