import { z } from 'zod'
import type { SearchFilters } from '#core/store/queries'
import { filtersOf, searchFilters } from '../../tools/search-filters.ts'
import { pageSize } from './schemas.ts'

const SKIP_MAX = 1_000

/** The filters as an address has them. */
export const queryFilters = {
  ...searchFilters,
  exact: z.literal('true').optional(),
  skip: pageSize(SKIP_MAX),
}

export function queriedFilters({
  exact,
  ...others
}: {
  readonly [Key in keyof typeof queryFilters]?: z.output<(typeof queryFilters)[Key]>
}): SearchFilters {
  return filtersOf({ ...others, exact: exact === undefined ? undefined : true })
}
