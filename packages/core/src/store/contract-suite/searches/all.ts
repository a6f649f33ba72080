import { meanings } from './meanings.ts'
import { rankings } from './rankings.ts'
import { scopes } from './scopes.ts'
import { searches } from './searches.ts'

export const SEARCH_CASES = { searches, rankings, scopes, meanings } as const
