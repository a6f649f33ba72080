import { meanings } from './meanings.ts'
import { rankings } from './rankings.ts'
import { searches } from './searches.ts'

export const SEARCH_CASES = { searches, rankings, meanings } as const
