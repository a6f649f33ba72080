import type { SessionId } from '#core/base/ids'
import { clip, oneLine } from '#core/base/line'
import type { SearchAnswer, SearchHit } from '#core/store/queries'
import type { Entry } from '#core/store/rows'
import { PASSAGE_CHARACTERS_MAX } from '#core/store/search/passages'

/**
 * The results of a search for a model: the best excerpts that fit, printed in the order of the
 * conversation. Consecutive entries share one full label. Entries of other sessions come first, each
 * with the id of its session.
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
  const chosen = new Map<string, SearchHit>()
  const has = ({ sessionId, entry }: SearchHit, step: 1 | -1) =>
    chosen.has(`${sessionId}#${entry.number + step}`)
  let left = characters - NOTE_CHARACTERS
  for (const hit of hits) {
    const isBeside = has(hit, -1) || has(hit, 1)
    const cost = lineOf(hit, here, isBeside).length + 1
    if (chosen.size > 0 && cost > left) break
    left -= cost
    chosen.set(`${hit.sessionId}#${hit.entry.number}`, hit)
  }
  const shown = [...chosen.values()]
  const lines = inOrder(shown, here).map((hit) => lineOf(hit, here, has(hit, -1)))
  const rest = Math.max(0, total - skip - shown.length)
  return {
    text: [...lines, ...noteOf({ rest, skip: skip + shown.length, pending })].join('\n'),
    shown: shown.map(({ entry }) => entry.number),
  }
}

/** By session, the oldest first and this one last; within a session by number. */
function inOrder(hits: readonly SearchHit[], here: SessionId): readonly SearchHit[] {
  const sorted = hits.toSorted((a, b) => a.entry.number - b.entry.number)
  const bySession = Map.groupBy(sorted, ({ sessionId }) => sessionId)
  const began = ([id, [first]]: readonly [SessionId, readonly SearchHit[]]) =>
    id === here ? Number.POSITIVE_INFINITY : (first?.entry.at ?? 0)
  return [...bySession].sort((a, b) => (began(a) < began(b) ? -1 : 1)).flatMap(([, own]) => own)
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

function lineOf(
  { sessionId, entry, excerpt }: SearchHit,
  here: SessionId,
  isShort: boolean,
): string {
  const at = isShort ? '' : `, ${new Date(entry.at).toISOString().slice(0, 16)}Z`
  const where = sessionId === here ? '' : `${sessionId} `
  return `${where}#${entry.number} ${speakerOf(entry)}${at}: ${clip(oneLine(excerpt), EXCERPT_CHARACTERS_MAX)}`
}

function speakerOf(entry: Entry): string {
  if (entry.kind === 'assistant') return 'you'
  if (entry.kind === 'result') return 'tool'
  return entry.kind === 'input' && entry.meta.lane === 'user' ? 'person' : 'notification'
}
