import { isCountsAndNames, parseIndexed } from '../bytes.ts'
import type { IndexTotals } from '../find.ts'
import { type IndexState, NO_INDEX } from '../index-state.ts'

/** Sums over the sessions of an agent, of a scope, of both, and of the store: an empty name is any. */
export const NO_TOTALS: IndexTotals = { live: 0, distinctSum: 0, languages: [] }

/** As they are stored: there are up to two for each session. */
export function packTotals({ live, distinctSum, languages }: IndexTotals): string {
  return JSON.stringify([live, distinctSum, ...languages])
}

export function unpackTotals(packed: string): IndexTotals {
  const totals = parseIndexed(packed, (value) => isCountsAndNames(value, 2))
  const [live, distinctSum, ...languages] = totals as [number, number, ...string[]]
  return { live, distinctSum, languages }
}

/** Under which names a session is counted. */
export function totalsOf(agent: string, scope: string): readonly (readonly [string, string])[] {
  return [
    ['', ''],
    [agent, ''],
    ['', scope],
    [agent, scope],
  ]
}

/** The sums with a session that is counted under other names: the origin of a fork. */
export function totalsWith(totals: IndexTotals, state: IndexState): IndexTotals {
  return totalsAfter(totals, NO_INDEX, state)
}

export function totalsAfter(
  totals: IndexTotals,
  before: IndexState,
  after: IndexState,
): IndexTotals {
  return {
    live: totals.live + after.live - before.live,
    distinctSum: totals.distinctSum + after.distinctSum - before.distinctSum,
    languages: [...new Set([...totals.languages, ...after.languages])].sort(),
  }
}
