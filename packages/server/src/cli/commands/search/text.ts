import { oneLine, splitsCharacter } from '#core/base/line'
import { textOf } from '#core/message/text'
import type { Found, TranscriptEntry } from '../../../runtime/runtime.ts'
import type { Paint } from '../../terminal/colours.ts'
import { moment } from '../../terminal/format.ts'
import { printable } from '../../terminal/printable.ts'
import { speakerOf } from '../../terminal/transcript-text.ts'

/** One hit in two lines: its entry, and the text around the first word found. */
export function drawFound(
  { sessionId, excerpt: best, entry, before, after }: Found,
  { text, paint }: { readonly text: string; readonly paint: Paint },
): string {
  const where = `${sessionId} ${paint('bold', `#${entry.number}`)} ${speakerOf(entry)}`
  const compacted = entry.isCovered ? paint('dim', ', compacted away') : ''
  const lines = [
    `${where}${compacted}${paint('dim', `  ${moment(entry.at)}`)}`,
    ...before.map((near) => `    ${paint('dim', neighbourLine(near))}`),
    `    ${excerpt(oneLine(printable(best)) || textIn(entry), text, paint)}`,
    ...after.map((near) => `    ${paint('dim', neighbourLine(near))}`),
  ]
  return `${lines.join('\n')}\n`
}

const EXCERPT_CHARACTERS_MAX = 160
/** Characters before the word. */
const LEAD = 60

function neighbourLine(entry: TranscriptEntry): string {
  return `#${entry.number} ${speakerOf(entry)}: ${cut(textIn(entry), 0)}`
}

function excerpt(text: string, query: string, paint: Paint): string {
  const lower = text.toLowerCase()
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const starts = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0)
  const first = starts.length === 0 ? 0 : Math.min(...starts)
  const part = cut(text, Math.max(0, first - LEAD))
  return mark(part, words, paint)
}

function cut(text: string, from: number): string {
  const start = splitsCharacter(text, from) ? from + 1 : from
  const end = start + EXCERPT_CHARACTERS_MAX
  const safe = splitsCharacter(text, end) ? end - 1 : end
  return `${start > 0 ? '…' : ''}${text.slice(start, safe)}${safe < text.length ? '…' : ''}`
}

/** Marks every occurrence of a word, in one pass. */
function mark(text: string, words: readonly string[], paint: Paint): string {
  const lower = text.toLowerCase()
  let marked = ''
  for (let at = 0; at < text.length; ) {
    const word = words.find((each) => lower.startsWith(each, at))
    const length = word?.length ?? 1
    const piece = text.slice(at, at + length)
    marked += word === undefined ? piece : paint('yellow', piece)
    at += length
  }
  return marked
}

function textIn({ message, body }: TranscriptEntry): string {
  const text = message === null ? asText(body) : textOf(message)
  return oneLine(printable(text))
}

function asText(body: TranscriptEntry['body']): string {
  if (body === null) return ''
  return typeof body === 'string' ? body : JSON.stringify(body)
}
