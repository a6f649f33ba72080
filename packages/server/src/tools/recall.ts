import { z } from 'zod'
import { entryNumber } from '#core/base/ids'
import { splitsCharacter } from '#core/base/line'
import type { Reads } from '#core/store/contract'
import type { Entry } from '#core/store/rows'
import { defineTool, ok, refuse } from './define-tool.ts'
import { entryLabel, entryText } from './entry-text.ts'
import { recallAnswer } from './recall-answer.ts'
import type { Tool } from './tool.ts'

const NUMBER_MAX = 2 ** 31 - 1

const moment = z.iso.datetime({ offset: true }).or(z.iso.date())

const input = z.strictObject({
  query: z
    .string()
    .max(10_000)
    .optional()
    .describe('Words to look for, a few that matter; "quoted text" must occur exactly.'),
  skip: z
    .int()
    .min(0)
    .max(1_000)
    .optional()
    .describe('Leave out so many of the best matches, to see the next ones.'),
  characters: z
    .int()
    .min(1_000)
    .max(12_000)
    .optional()
    .describe('How long the answer may be; default 5400.'),
  limit: z.int().min(1).max(100).optional().describe('At most so many matches.'),
  speaker: z.enum(['person', 'agent', 'tool', 'notification']).optional(),
  tool: z.string().max(200).optional().describe('Only calls of this tool and their results.'),
  path: z.string().max(1_000).optional().describe('Only entries that name this file.'),
  since: moment.optional().describe('Only from this day or moment on (ISO 8601).'),
  until: moment.optional().describe('Only before this day or moment (ISO 8601).'),
  from: z.int().min(1).max(NUMBER_MAX).optional().describe('Open the entries from this number on.'),
  to: z.int().min(1).max(NUMBER_MAX).optional().describe('The last one to open; default: `from`.'),
  offset: z
    .int()
    .min(0)
    .max(NUMBER_MAX)
    .optional()
    .describe('Begin so many characters into the first opened entry.'),
})

/** The limit of one answer. A longer entry takes several calls, each continuing after the last. */
export const RECALL_CHARACTERS_MAX = 12_000
export const RECALL_CHARACTERS = 5_400
const MATCHES_MAX = 100
/** An entry is not started if fewer characters than this are left. */
const PIECE_CHARACTERS_MIN = 600
const ENTRIES_MAX = 200

/** Everything compacted away stays readable: search by words, open by number. */
export function recallTool({ store }: { store: Pick<Reads, 'search' | 'readEntries'> }): Tool {
  return defineTool({
    name: 'recall',
    description:
      'Look up what was said or done earlier in this conversation, also what is no longer shown. ' +
      'Search with `query`: give the words that matter (names, files, numbers, what it was about), ' +
      'not a sentence, and a date if you know it. The best excerpts come back in the order of the ' +
      'conversation, each with its number; open an entry whole with `from`, ' +
      'also one that a handoff names as #12. If they do not answer ' +
      'the question, try other words or `skip`. ' +
      'Use it before you say that you do not know or remember something.',
    input,
    isRepeatable: true,
    run: async ({ sessionId, entry, input }) => {
      const { query, from, to = from, offset = 0 } = input
      if (from !== undefined && to !== undefined) {
        const last = Math.min(to, from + ENTRIES_MAX - 1)
        const range = { sessionId, from: entryNumber(from), to: entryNumber(last) }
        const entries = await store.readEntries(range)
        // Fewer than requested means that the transcript ends here.
        const isCut = to > last && entries.length === ENTRIES_MAX
        return ok(opened(entries, offset, isCut ? last + 1 : null) || nothingAt(from, entry))
      }
      if (query === undefined) return refuse('Give `query` to search, or `from` to open entries.')
      const { characters = RECALL_CHARACTERS, skip = 0, limit = MATCHES_MAX } = input
      const { speaker, tool, path, since, until } = input
      const answer = await store.search({
        ...{ sessionId, text: query, limit, skip, neighbours: 0, near: true },
        // The searching call contains the query and would be its own best match.
        before: entryNumber(entry),
        ...(speaker !== undefined && { speaker }),
        ...(tool !== undefined && { tool }),
        ...(path !== undefined && { path }),
        ...(since !== undefined && { since: Date.parse(since) }),
        ...(until !== undefined && { until: Date.parse(until) }),
      })
      if (answer.hits.length > 0) return ok(recallAnswer(answer, { characters, skip }).text)
      return ok(skip > 0 ? NO_MORE : NOTHING)
    },
  })
}

const NOTHING = 'Nothing was found. Try other words, fewer words, or open entries by number.'
const NO_MORE = 'There are no more matches. Try other words, or open entries by number.'

function nothingAt(from: number, entry: number): string {
  return `There is no entry ${from}; the newest is ${entry}.`
}

/** Whole entries as far as they fit; the rest is named, with where to continue. */
function opened(entries: readonly Entry[], offset: number, next: number | null): string {
  const blocks: string[] = []
  let left = RECALL_CHARACTERS_MAX
  for (const [index, entry] of entries.entries()) {
    const whole = entryText(entry)
    const start = index === 0 ? Math.min(offset, whole.length) : 0
    const begin = splitsCharacter(whole, start) ? start - 1 : start
    const label = entryLabel(entry)
    const space = left - label.length
    if (blocks.length > 0 && space < Math.min(whole.length, PIECE_CHARACTERS_MIN)) {
      blocks.push(goOn(entry.number))
      return blocks.join('\n\n')
    }
    const cut = begin + Math.max(space, PIECE_CHARACTERS_MIN)
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
