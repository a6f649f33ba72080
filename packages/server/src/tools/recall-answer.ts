import { clip, oneLine } from '#core/base/line'
import type { SearchAnswer, SearchHit } from '#core/store/queries'
import type { Entry } from '#core/store/rows'
import { PASSAGE_CHARACTERS_MAX } from '#core/store/search/passages'

/**
 * The results of a search for a model: the best excerpts that fit, printed in the order of the
 * conversation. Consecutive entries share one full label.
 */
export interface RecallAnswer {
  readonly text: string
  /** The numbers of the shown entries, best first. */
  readonly shown: readonly number[]
}

/** Two passages and what joins them. */
const EXCERPT_CHARACTERS_MAX = 2 * PASSAGE_CHARACTERS_MAX + 3

export function recallAnswer(
  { hits, total, pending }: SearchAnswer,
  { characters, skip }: { readonly characters: number; readonly skip: number },
): RecallAnswer {
  const chosen = new Map<number, SearchHit>()
  let left = characters - NOTE_CHARACTERS
  for (const hit of hits) {
    const { number } = hit.entry
    const isBeside = chosen.has(number - 1) || chosen.has(number + 1)
    const cost = lineOf(hit, isBeside).length + 1
    if (chosen.size > 0 && cost > left) break
    left -= cost
    chosen.set(number, hit)
  }
  const lines = [...chosen.values()]
    .sort((a, b) => a.entry.number - b.entry.number)
    .map((hit) => lineOf(hit, chosen.has(hit.entry.number - 1)))
  const rest = Math.max(0, total - skip - chosen.size)
  return {
    text: [...lines, ...noteOf({ rest, skip: skip + chosen.size, pending })].join('\n'),
    shown: [...chosen.keys()],
  }
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

function lineOf({ entry, excerpt }: SearchHit, isShort: boolean): string {
  const at = isShort ? '' : `, ${new Date(entry.at).toISOString().slice(0, 16)}Z`
  return `#${entry.number} ${speakerOf(entry)}${at}: ${clip(oneLine(excerpt), EXCERPT_CHARACTERS_MAX)}`
}

function speakerOf(entry: Entry): string {
  if (entry.kind === 'assistant') return 'you'
  if (entry.kind === 'result') return 'tool'
  return entry.kind === 'input' && entry.meta.lane === 'user' ? 'person' : 'notification'
}
