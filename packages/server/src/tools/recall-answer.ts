import type { SessionId } from '#core/base/ids'
import { clip, oneLine } from '#core/base/line'
import type { SearchAnswer, SearchHit } from '#core/store/queries'
import { PASSAGE_CHARACTERS_MAX } from '#core/store/search/passages'
import type { Entry } from '#core/store/tables/rows'

/**
 * The results of a search for a model: the best excerpts that fit, printed in the order of the
 * conversation. No text is printed twice: entries with the same excerpt share a line, and entries of
 * one day a date. Entries of other sessions come first, each with the id of its session.
 */
export interface RecallAnswer {
  readonly text: string
  /** The numbers of the shown entries, best first. */
  readonly shown: readonly number[]
}

/** Two passages and what joins them. */
const EXCERPT_CHARACTERS_MAX = 2 * PASSAGE_CHARACTERS_MAX + 3

interface Asked {
  readonly characters: number
  readonly skip: number
  /** The session that asks. */
  readonly here: SessionId
}

export function recallAnswer(
  { hits, total, pending }: SearchAnswer,
  { characters, skip, here }: Asked,
): RecallAnswer {
  const count = fitting(hits.length, (most) => {
    return printed(hits.slice(0, most), here).length <= characters - NOTE_CHARACTERS
  })
  const shown = hits.slice(0, count)
  const notes = noteOf({ rest: Math.max(0, total - skip - count), skip: skip + count, pending })
  return {
    text: [printed(shown, here), ...notes].join('\n'),
    shown: shown.map(({ entry }) => entry.number),
  }
}

/** The most that fit, but at least one. Fewer never take more space, so half of the range suffices. */
function fitting(most: number, fits: (count: number) => boolean): number {
  let [low, high] = [1, most]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}

/** By session, the oldest first and this one last; within a session by number. */
function printed(hits: readonly SearchHit[], here: SessionId): string {
  const sorted = hits.toSorted((a, b) => a.entry.number - b.entry.number)
  const bySession = Map.groupBy(sorted, ({ sessionId }) => sessionId)
  const began = ([id, [first]]: readonly [SessionId, readonly SearchHit[]]) =>
    id === here ? Number.POSITIVE_INFINITY : (first?.entry.at ?? 0)
  return [...bySession]
    .sort((a, b) => (began(a) < began(b) ? -1 : 1))
    .flatMap(([id, own]) => linesOf(own, id === here ? '' : `${id} `))
    .join('\n')
}

function linesOf(hits: readonly SearchHit[], where: string): readonly string[] {
  const alike = Map.groupBy(hits, ({ entry, excerpt }) => `${speakerOf(entry)}: ${excerpt}`)
  let day = ''
  return [...alike.values()].map((same) => {
    const { entry, excerpt } = same[0] as SearchHit
    const numbers = same.map((hit) => `#${hit.entry.number}`).join(', ')
    const at = new Date(entry.at).toISOString()
    const stamp = at.slice(0, 10) === day ? '' : `, ${at.slice(0, 16)}Z`
    day = at.slice(0, 10)
    const text = clip(oneLine(excerpt), EXCERPT_CHARACTERS_MAX)
    return `${where}${numbers} ${speakerOf(entry)}${stamp}: ${text}`
  })
}

/** Space for the last line. */
const NOTE_CHARACTERS = 120

function noteOf(more: { rest: number; skip: number; pending: number }): readonly string[] {
  const { rest, skip, pending } = more
  return [
    ...(rest > 0
      ? [`[${rest} weaker matches: skip: ${skip}. Open an entry with from: NUMBER.]`]
      : []),
    ...(pending > 0 ? [`[${pending} entries are not indexed yet and were not searched.]`] : []),
  ]
}

function speakerOf(entry: Entry): string {
  if (entry.kind === 'assistant') return 'you'
  if (entry.kind === 'result') return 'tool'
  return entry.kind === 'input' && entry.meta.lane === 'user' ? 'person' : 'notification'
}
