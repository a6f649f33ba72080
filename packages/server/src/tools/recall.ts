import { z } from 'zod'
import { entryNumber } from '#core/base/ids'
import { clip, oneLine, splitsCharacter } from '#core/base/line'
import type { Reads } from '#core/store/contract'
import type { SearchHit } from '#core/store/queries'
import type { Entry } from '#core/store/rows'
import { wordsOf } from '#core/store/search/words'
import { defineTool, ok, refuse } from './define-tool.ts'
import { entryLabel, entryText } from './entry-text.ts'
import type { Tool } from './tool.ts'

const NUMBER_MAX = 2 ** 31 - 1

const input = z.strictObject({
  query: z
    .string()
    .max(10_000)
    .optional()
    .describe('Words to look for; the best matches come back.'),
  from: z.int().min(1).max(NUMBER_MAX).optional().describe('Open the entries from this number on.'),
  to: z.int().min(1).max(NUMBER_MAX).optional().describe('The last one to open; default: `from`.'),
  offset: z
    .int()
    .min(0)
    .max(NUMBER_MAX)
    .optional()
    .describe('Begin so many characters into the first opened entry.'),
  limit: z.int().min(1).max(20).optional().describe('How many matches; default 5.'),
  neighbours: z
    .int()
    .min(0)
    .max(5)
    .optional()
    .describe('Entries shown around each match; default 1.'),
})

const LIMIT = 5
const NEIGHBOURS = 1
/** Of one answer. A whole entry is read in several calls, each behind the last. */
export const RECALL_CHARACTERS_MAX = 12_000
const MATCH_CHARACTERS = 600
const NEIGHBOUR_CHARACTERS = 200
const ENTRIES_MAX = 200

/** Everything that was compacted away stays readable: searched by words, opened by number. */
export function recallTool({ store }: { store: Pick<Reads, 'search' | 'readEntries'> }): Tool {
  return defineTool({
    name: 'recall',
    description:
      'Look up what was said or done earlier in this conversation, also what is no longer shown: ' +
      'search with `query`, or open entries by number with `from` and `to`. ' +
      'Use it before you say that you do not know or remember something.',
    input,
    isRepeatable: true,
    run: async ({ sessionId, entry, input }) => {
      const { query, from, to = from, offset = 0, limit = LIMIT, neighbours = NEIGHBOURS } = input
      if (from !== undefined && to !== undefined) {
        const last = Math.min(to, from + ENTRIES_MAX - 1)
        const range = { sessionId, from: entryNumber(from), to: entryNumber(last) }
        const entries = await store.readEntries(range)
        // Fewer than asked for are there only where the transcript ends.
        const isCut = to > last && entries.length === ENTRIES_MAX
        return ok(opened(entries, offset, isCut ? last + 1 : null) || nothingAt(from, entry))
      }
      if (query === undefined) return refuse('Give `query` to search, or `from` to open entries.')
      // The call that asks holds the words too, and would be its own best match.
      const asked = { sessionId, text: query, limit: limit + OWN_MAX, neighbours }
      const found = await store.search(asked)
      const hits = found.filter((hit) => hit.entry.number < entry).slice(0, limit)
      return ok(hits.length === 0 ? NOTHING : visible(hits, query))
    },
  })
}

const OWN_MAX = 4
const NOTHING = 'Nothing was found. Try other words, fewer words, or open entries by number.'

function nothingAt(from: number, entry: number): string {
  return `There is no entry ${from}; the newest is ${entry}.`
}

function visible(hits: readonly SearchHit[], query: string): string {
  const words = new Set(wordsOf(query))
  return bounded(
    hits.map(({ entry, before, after }) =>
      [
        ...before.map((near) => line(near, NEIGHBOUR_CHARACTERS)),
        `> ${entryLabel(entry)}: ${around(entryText(entry), words)}`,
        ...after.map((near) => line(near, NEIGHBOUR_CHARACTERS)),
      ].join('\n'),
    ),
  )
}

function line(entry: Entry, charactersMax: number): string {
  return `  ${entryLabel(entry)}: ${clip(oneLine(entryText(entry)), charactersMax)}`
}

const WORD = /[\p{L}\p{N}]+/gu
/** The store searches no further into an entry. */
const SEARCHED_CHARACTERS = 200_000
const PLAIN = /^[A-Za-z0-9]{2}/

/** The place where the first of the words stands, with what is around it. */
function around(text: string, words: ReadonlySet<string>): string {
  // A word and its stem begin alike; only where they do is the stem looked for.
  const starts = new Set([...words].map((word) => word.slice(0, 2)))
  let at = 0
  for (const { 0: word, index } of text.slice(0, SEARCHED_CHARACTERS).matchAll(WORD)) {
    if (PLAIN.test(word) && !starts.has(word.slice(0, 2).toLowerCase())) continue
    if (!wordsOf(word.slice(0, 64)).some((found) => words.has(found))) continue
    at = index
    break
  }
  const from = Math.max(0, at - Math.floor(MATCH_CHARACTERS / 3))
  const begin = splitsCharacter(text, from) ? from + 1 : from
  const snippet = clip(oneLine(text.slice(begin, begin + 2 * MATCH_CHARACTERS)), MATCH_CHARACTERS)
  return begin === 0 ? snippet : `…${snippet}`
}

function bounded(blocks: readonly string[]): string {
  const kept: string[] = []
  let left = RECALL_CHARACTERS_MAX
  for (const block of blocks) {
    if (kept.length > 0 && block.length > left) break
    kept.push(clip(block, RECALL_CHARACTERS_MAX))
    left -= block.length
  }
  return kept.join('\n\n')
}

/** Whole entries as far as there is room; what does not fit is named with where to go on. */
function opened(entries: readonly Entry[], offset: number, next: number | null): string {
  const blocks: string[] = []
  let left = RECALL_CHARACTERS_MAX
  for (const [index, entry] of entries.entries()) {
    const whole = entryText(entry)
    const start = index === 0 ? Math.min(offset, whole.length) : 0
    const begin = splitsCharacter(whole, start) ? start - 1 : start
    const label = entryLabel(entry)
    const space = left - label.length
    if (blocks.length > 0 && space < Math.min(whole.length, MATCH_CHARACTERS)) {
      blocks.push(goOn(entry.number))
      return blocks.join('\n\n')
    }
    const cut = begin + Math.max(space, MATCH_CHARACTERS)
    const end = splitsCharacter(whole, cut) ? cut - 1 : cut
    const rest = whole.length - end
    blocks.push(`${label}:\n${whole.slice(begin, end)}`)
    if (rest > 0) {
      const there = `from: ${entry.number}, offset: ${end}`
      blocks.push(`[${rest} further characters of this entry; go on with ${there}.]`)
      return blocks.join('\n\n')
    }
    left = space - (whole.length - begin)
  }
  if (next !== null) blocks.push(goOn(next))
  return blocks.join('\n\n')
}

function goOn(from: number): string {
  return `[Go on with from: ${from}.]`
}
