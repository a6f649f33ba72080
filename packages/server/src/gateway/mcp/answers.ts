import { z } from 'zod'
import { searchFilters } from '../../tools/search-filters.ts'

/** Input and output of the tools. Programs read these shapes; models read the descriptions. */
const sessionName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'should be 1 to 64 letters, digits, "_" or "-"' })
  .describe('The session: any id of your choosing, the same for one conversation.')

const NUMBER_MAX = 2 ** 31 - 1
const number = z.int().min(1).max(NUMBER_MAX)

const MESSAGES_MAX = 100
const TEXT_CHARACTERS_MAX = 1_000_000
export const TOGETHER_CHARACTERS_MAX = 10_000_000
/**
 * One message of the protocol. Everything that the schemas allow fits, even if every character is
 * escaped to six bytes: 60 MB for the texts, and the rest for keys, timestamps and names.
 */
export const MCP_LINE_BYTES_MAX = 64 * 1024 * 1024

export const appendInput = z.strictObject({
  session: sessionName,
  messages: z
    .array(
      z.strictObject({
        key: z
          .string()
          .min(1)
          .max(200)
          .describe('Names this message; the same key again changes nothing.'),
        role: z.enum(['user', 'assistant', 'tool']).describe('Who said it.'),
        text: z.string().min(1).max(TEXT_CHARACTERS_MAX),
        at: z.iso.datetime({ offset: true }).optional().describe('When; default: now.'),
      }),
    )
    .min(1)
    .max(MESSAGES_MAX)
    .refine((messages) => charactersOf(messages) <= TOGETHER_CHARACTERS_MAX, {
      error: `should have ${TOGETHER_CHARACTERS_MAX} characters of text together at most`,
    })
    .describe(
      'In the order in which they were said; at most ' +
        `${TOGETHER_CHARACTERS_MAX} characters of text together.`,
    ),
})

function charactersOf(messages: readonly { readonly text: string }[]): number {
  return messages.reduce((sum, { text }) => sum + text.length, 0)
}

export const appendOutput = z.object({
  session: z.string(),
  messages: z.array(
    z.object({
      key: z.string(),
      outcome: z.enum(['appended', 'duplicate', 'conflict', 'busy', 'gone', 'refused']),
      entry: z.int().nullable().describe('Its number in the transcript.'),
      mail: z.int().nullable().describe('Its number in the mailbox of a session that runs here.'),
      note: z.string().nullable(),
    }),
  ),
})

export const searchInput = z.strictObject({
  text: z
    .string()
    .min(1)
    .max(10_000)
    .describe('The words that matter; "quoted text" must occur exactly.'),
  session: sessionName.optional().describe('In this one only; default: in all.'),
  ...searchFilters,
  limit: z.int().min(1).max(50).default(10),
  neighbours: z
    .int()
    .min(0)
    .max(5)
    .default(1)
    .describe('Entries around each match; only within one session.'),
})

export const mcpEntry = z.object({
  entry: z.int(),
  role: z.string(),
  at: z.string(),
  text: z.string(),
  clippedCharacters: z.int().describe('How many are not shown; `session_recall` shows them.'),
  isCompacted: z.boolean().describe('It was compacted away from the context.'),
})

export const searchOutput = z.object({
  found: z.array(
    z.object({
      session: z.string(),
      excerpt: z.string().describe('The part of the entry that matches best.'),
      match: mcpEntry,
      before: z.array(mcpEntry),
      after: z.array(mcpEntry),
    }),
  ),
  total: z.int().describe('All that match, listed or not; in many sessions, at least so many.'),
  note: z.string().optional().describe('Why less was searched than usual.'),
})

export const recallInput = z.strictObject({
  session: sessionName,
  from: number.optional().describe('The first entry; default: the newest twenty.'),
  to: number.optional().describe('The last one; default: as many as fit.'),
  offset: z.int().min(0).max(NUMBER_MAX).default(0).describe('Characters to skip in the first.'),
})

export const recallOutput = z.object({
  session: z.string(),
  entries: z.array(mcpEntry),
  newest: z.int(),
  next: z
    .object({ from: z.int(), offset: z.int() })
    .nullable()
    .describe('Where to continue; null: this was all that you asked for.'),
})

export const statusInput = z.strictObject({ session: sessionName })

export const statusOutput = z.object({
  session: z.string(),
  agent: z.string(),
  title: z.string().nullable(),
  state: z.string(),
  entries: z.int(),
  waiting: z.int(),
  contextTokens: z.int(),
  windowTokens: z.int(),
  usedShare: z.number(),
  compactionDueAtTokens: z.int(),
  isCompacting: z.boolean(),
  compaction: z
    .object({ entry: z.int(), covers: z.int(), summary: z.string() })
    .nullable()
    .describe('The handoff in effect: it replaces entries 1 to `covers`.'),
  isServed: z.boolean().describe('Some process runs sessions of this store now.'),
})

export const compactInput = z.strictObject({
  session: sessionName,
  key: z.string().min(1).max(200).optional().describe('The same key again asks only once.'),
  focus: z.string().max(2_000).optional().describe('What the summary should pay attention to.'),
  waitSeconds: z.number().min(0).max(100).default(30),
})

export const compactOutput = z.object({
  session: z.string(),
  outcome: z
    .enum(['compacted', 'nothing-to-compact', 'failed', 'asked'])
    .describe('`asked`: it waits for a process that serves this session.'),
  isServed: z.boolean(),
  covers: z.int().nullable(),
  tokensBefore: z.int().nullable(),
  tokensAfter: z.int().nullable(),
  note: z.string(),
})
