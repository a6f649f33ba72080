import type { Found, TranscriptEntry } from '../../server/src/runtime/runtime.ts'
import { hashOf } from '../data/address.ts'
import { sessions } from '../data/session-list.ts'
import { moment } from './words.ts'

/** Search results, each with a link to its entry and the words around the hit. */
const BEFORE = 40
const AFTER = 140

export function Hits(props: { readonly found: readonly Found[]; readonly words: string }) {
  const { found, words } = props
  const titles = new Map(sessions.value.map(({ id, title }) => [id as string, title ?? id]))
  return (
    <div class="list">
      {found.map(({ sessionId, excerpt, entry }) => (
        <a class="found" href={hashOf(sessionId, 'conversation', entry.number)}>
          <b>{titles.get(sessionId) ?? sessionId}</b>
          <span class="dim">
            #{entry.number} · {moment(entry.at)}
            {entry.isCovered && ' · compacted'}
          </span>
          <Excerpt text={excerpt || textOf(entry)} words={words} />
        </a>
      ))}
    </div>
  )
}

function Excerpt({ text, words }: { readonly text: string; readonly words: string }) {
  // The index finds words in any order and form; the first literal match is marked.
  const lower = text.toLowerCase()
  const [hit = ''] = [words, ...words.split(/\s+/)]
    .map((word) => word.toLowerCase())
    .filter((word) => word !== '' && lower.includes(word))
  const at = hit === '' ? 0 : lower.indexOf(hit)
  const from = Math.max(0, at - BEFORE)
  return (
    <span>
      {from > 0 && '…'}
      {text.slice(from, at)}
      <mark>{text.slice(at, at + hit.length)}</mark>
      {text.slice(at + hit.length, at + AFTER)}
      {text.length > at + AFTER && '…'}
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
