import { z } from 'zod'
import type { SearchRequest } from '../../runtime/runtime.ts'
import { name, pageSize, queryText } from './schemas.ts'

const SKIP_MAX = 1_000
const moment = z.iso.datetime({ offset: true }).or(z.iso.date())

/** The entries to search; the names are those of the `recall` command. */
export const searchFilters = {
  exact: z.literal('true').optional(),
  skip: pageSize(SKIP_MAX),
  speaker: z.enum(['person', 'notification', 'agent', 'tool']).optional(),
  tool: name.optional(),
  path: queryText.optional(),
  since: moment.optional(),
  until: moment.optional(),
}

export function searchRequest(
  query: {
    readonly [Key in keyof typeof searchFilters]?: z.output<(typeof searchFilters)[Key]>
  },
): Omit<SearchRequest, 'text' | 'limit'> {
  const { exact, skip, speaker, tool, path, since, until } = query
  return {
    ...(exact !== undefined && { exact: true }),
    ...(skip !== undefined && { skip }),
    ...(speaker !== undefined && { speaker }),
    ...(tool !== undefined && { tool }),
    ...(path !== undefined && { path }),
    ...(since !== undefined && { since: Date.parse(since) }),
    ...(until !== undefined && { until: Date.parse(until) }),
  }
}
