import type { SessionId } from '../../base/ids.ts'
import { type ForkRow, storedRanges } from '../lineage.ts'
import type { Entry } from '../rows.ts'

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

/** The entry under its number in its session's index. */
export function renumbered<Numbered extends Pick<Entry, 'number'>>(
  entry: Numbered,
  after: number,
): Numbered {
  return after === 0 ? entry : { ...entry, number: (entry.number - after) as Entry['number'] }
}
