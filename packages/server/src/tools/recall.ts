import { z } from 'zod'
import { entryNumber, type SessionId } from '#core/base/ids'
import { splitsCharacter } from '#core/base/line'
import type { Reads } from '#core/store/contract'
import { isWithin } from '#core/store/search/parts'
import type { Entry, SessionRow } from '#core/store/tables/rows'
import { defineTool, ok, refuse } from './define-tool.ts'
import { type EmbedQuestion, searchNote } from './embedded-question.ts'
import { entryLabel, entryText } from './entry-text.ts'
import { recallAnswer } from './recall-answer.ts'
import { filtersOf, searchFilters } from './search-filters.ts'
import type { Tool } from './tool.ts'

const NUMBER_MAX = 2 ** 31 - 1

const input = z.strictObject({
  query: z
    .string()
    .max(10_000)
    .optional()
    .describe('Words to look for, a few that matter; "quoted text" must occur exactly.'),
  characters: z
    .int()
    .min(1_000)
    .max(12_000)
    .optional()
    .describe('How long the answer may be; default 5400.'),
  everywhere: z
    .boolean()
    .optional()
    .describe('Also search the other conversations that you had with the same people.'),
  limit: z.int().min(1).max(100).optional().describe('At most so many matches.'),
  ...searchFilters,
  session: z
    .string()
    .max(64)
    .optional()
    .describe('Open entries of another of these conversations, by its id.'),
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

interface RecallParts {
  readonly store: RecallStore
  /** Search by meaning, if it is configured. */
  readonly embedQuestion?: EmbedQuestion | undefined
}

type RecallStore = Pick<Reads, 'search' | 'readEntries' | 'findSession'>

/** Everything compacted away stays readable: search by words, open by number. */
export function recallTool({ store, embedQuestion }: RecallParts): Tool {
  return defineTool({
    name: 'recall',
    description:
      'Look up what was said or done earlier in this conversation, also what is no longer shown. ' +
      'Search with `query`: give the words that matter (names, files, numbers, what it was about), ' +
      'not a sentence, and a date if you know it. The best excerpts come back in the order of the ' +
      'conversation, each with its number; open an entry whole with `from`, ' +
      'also one that a handoff names as #12. If they do not answer ' +
      'the question, try other words, `skip`, or `everywhere`. ' +
      'Use it before you say that you do not know or remember something.',
    input,
    isRepeatable: true,
    run: async ({ sessionId, entry, input }) => {
      const { query, everywhere, session, from, to = from, offset = 0 } = input
      if (from !== undefined && to !== undefined) {
        const other = session === undefined ? undefined : await otherOf(store, sessionId, session)
        if (session !== undefined && session !== sessionId && other === undefined) {
          return refuse(`There is no conversation ${session} with the same people.`)
        }
        const last = Math.min(to, from + ENTRIES_MAX - 1)
        const entries = await store.readEntries({
          sessionId: other?.id ?? sessionId,
          ...{ from: entryNumber(from), to: entryNumber(last) },
        })
        // Fewer than requested means that the transcript ends here.
        const isCut = to > last && entries.length === ENTRIES_MAX
        const text = opened(entries, offset, isCut ? last + 1 : null)
        return ok(text || nothingAt(from, other?.tail ?? entry))
      }
      if (query === undefined) return refuse('Give `query` to search, or `from` to open entries.')
      const { characters = RECALL_CHARACTERS, limit = MATCHES_MAX } = input
      const { exact, skip = 0, speaker, tool, path, since, until } = input
      const here = everywhere === true ? await store.findSession(sessionId) : undefined
      const question = (await embedQuestion?.({ text: query, exact: exact === true })) ?? {}
      const answer = await store.search({
        ...(question.meaning !== undefined && { meaning: question.meaning }),
        sessionId:
          here === undefined
            ? sessionId
            : { agent: here.agent, scope: here.scope, here: sessionId },
        ...{ text: query, limit, neighbours: 0, near: true },
        // The searching call contains the query and would be its own best match.
        before: entryNumber(entry),
        ...filtersOf({ exact, skip, speaker, tool, path, since, until }),
      })
      const note = searchNote(question, answer)
      const notes = note === undefined ? [] : [`[${note}]`]
      const text =
        answer.hits.length > 0
          ? recallAnswer(answer, { characters, skip, here: sessionId }).text
          : skip > 0
            ? NO_MORE
            : NOTHING
      return ok([text, ...notes].join('\n'))
    },
  })
}

/** Another session that the people of this one share with its agent: one of its scope. */
async function otherOf(
  store: RecallStore,
  id: SessionId,
  wanted: string,
): Promise<SessionRow | undefined> {
  const [here, other] = [await store.findSession(id), await store.findSession(wanted as SessionId)]
  if (here === undefined || other === undefined || other.id === id) return undefined
  return isWithin({ agent: here.agent, scope: here.scope }, other) ? other : undefined
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
