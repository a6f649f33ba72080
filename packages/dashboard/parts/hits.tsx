import type { Found, TranscriptEntry } from '../../server/src/runtime/runtime.ts'
import { hashOf } from '../data/address.ts'
import { titleOf } from '../data/session-list.ts'
import { moment } from './words.ts'

/** Search results, each with a link to its entry and the words that were found marked. */
const BEFORE = 40
const AFTER = 140

export function Hits({ found }: { readonly found: readonly Found[] }) {
  return (
    <div class="list">
      {found.map(({ sessionId, excerpt, highlights, entry }) => (
        <a class="found" href={hashOf(sessionId, 'conversation', entry.number)}>
          <b>{titleOf(sessionId)}</b>
          <span class="dim">
            #{entry.number} · {moment(entry.at)}
            {entry.isCovered && ' · compacted'}
          </span>
          <Excerpt text={excerpt || textOf(entry)} marks={highlights} />
        </a>
      ))}
    </div>
  )
}

function Excerpt({ text, marks }: { readonly text: string; readonly marks: Found['highlights'] }) {
  const from = Math.max(0, (marks[0]?.from ?? 0) - BEFORE)
  const end = Math.min(text.length, (marks[0]?.from ?? 0) + AFTER)
  const shown = marks.filter((mark) => mark.to <= end)
  return (
    <span>
      {from > 0 && '…'}
      {shown.map((mark, at) => (
        <>
          {text.slice(shown[at - 1]?.to ?? from, mark.from)}
          <mark>{text.slice(mark.from, mark.to)}</mark>
        </>
      ))}
      {text.slice(shown.at(-1)?.to ?? from, end)}
      {end < text.length && '…'}
    </span>
  )
}

function textOf({ message, body }: TranscriptEntry): string {
  const texts: string[] = []
  const all = JSON.stringify(message ?? body, (name, value) => {
    if ((name === 'text' || name === 'summary') && typeof value === 'string') texts.push(value)
    return value
  })
  return texts.join(' ') || all
}
