import type { SessionId } from '../../base/ids.ts'
import { type ForkRow, ownAfter, storedRanges } from '../lineage.ts'
import type { Search, SearchedScope } from '../queries.ts'
import type { Entry, SessionRow } from '../tables/rows.ts'

/**
 * A range of entries to search, with the index of the session that stores it. An index numbers the
 * entries of its session from 1; those of a fork begin after `after`.
 */
export interface SearchedStretch {
  /** The session that is searched. */
  readonly id: SessionId
  readonly keeper: SessionId
  readonly after: number
  /** Entries after this one are not found. */
  readonly upto: number
}

/** The session that a search is asked in, to which `before` refers. */
export function ownSession(asked: Search['sessionId']): SessionId | undefined {
  if (typeof asked === 'string') return asked
  return 'length' in asked ? asked[0] : asked.here
}

/** Each range once, even if a fork and its origin are searched together. */
export function searchedStretches(
  lines: readonly (readonly (ForkRow & { readonly tail: number })[])[],
): readonly SearchedStretch[] {
  const found = new Map<SessionId, SearchedStretch>()
  for (const line of lines) {
    const [session] = line
    if (session === undefined) continue
    for (const { sessionId, from, to } of storedRanges(line, 1, session.tail)) {
      if ((found.get(sessionId)?.upto ?? -1) >= to) continue
      found.set(sessionId, { id: session.id, keeper: sessionId, after: from - 1, upto: to })
    }
  }
  return [...found.values()]
}

/** What of a session's row says whether it is searched. */
export type ScopedRow = Pick<SessionRow, 'id' | 'agent' | 'scope' | 'state' | 'tail'> & ForkRow

/** Of a purged session only its forks still read something. */
export function isWithin({ agent, scope }: SearchedScope, row: ScopedRow): boolean {
  return (
    row.state === 'open' && (agent ?? row.agent) === row.agent && (scope ?? row.scope) === row.scope
  )
}

/**
 * What a search of many sessions finds in the index of one of them: everything, or, if that session
 * is not searched itself, as much as its forks read.
 */
export function stretchWithin(
  searched: SearchedScope,
  keeper: ScopedRow,
  linesOfForks: () => readonly (readonly [ScopedRow, ...(ForkRow & { readonly tail: number })[]])[],
): SearchedStretch | null {
  const { id } = keeper
  if (isWithin(searched, keeper)) {
    return { id, keeper: id, after: ownAfter(keeper), upto: keeper.tail }
  }
  const lines = linesOfForks().filter(([fork]) => isWithin(searched, fork))
  return searchedStretches(lines).find((stretch) => stretch.keeper === id) ?? null
}

/** The entry under its number in its session's index. */
export function renumbered<Numbered extends Pick<Entry, 'number'>>(
  entry: Numbered,
  after: number,
): Numbered {
  return after === 0 ? entry : { ...entry, number: (entry.number - after) as Entry['number'] }
}
