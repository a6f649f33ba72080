import { z } from 'zod'
import type { SearchFilters } from '#core/store/queries'

/** The filters of a search, with the same names for models (`recall`), over HTTP and over MCP. */
const SKIP_MAX = 1_000
const PATH_CHARACTERS_MAX = 1_000
const moment = z.iso.datetime({ offset: true }).or(z.iso.date())

export const searchFilters = {
  exact: z
    .boolean()
    .optional()
    .describe('The whole text must occur as it is: identifiers, paths, error messages.'),
  skip: z
    .int()
    .min(0)
    .max(SKIP_MAX)
    .optional()
    .describe('Leave out so many of the best matches, to see the next ones.'),
  speaker: z.enum(['person', 'agent', 'tool', 'notification']).optional(),
  tool: z.string().max(200).optional().describe('Only calls of this tool and their results.'),
  path: z
    .string()
    .max(PATH_CHARACTERS_MAX)
    .optional()
    .describe('Only entries that name this file.'),
  since: moment.optional().describe('Only from this day or moment on (ISO 8601).'),
  until: moment.optional().describe('Only before this day or moment (ISO 8601).'),
}

type Given = {
  readonly [Key in keyof typeof searchFilters]?: z.output<(typeof searchFilters)[Key]>
}

export function filtersOf({ since, until, ...given }: Given): SearchFilters {
  const filters = {
    ...given,
    since: since === undefined ? undefined : Date.parse(since),
    until: until === undefined ? undefined : Date.parse(until),
  }
  return onlyGiven(filters)
}

function onlyGiven<T extends object>(values: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as { [Key in keyof T]: Exclude<T[Key], undefined> }
}
