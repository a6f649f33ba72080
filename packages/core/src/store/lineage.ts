import type { SessionId } from '../base/ids.ts'
import type { SessionRow } from './tables/rows.ts'

/** The fields of a session row that describe a fork. */
export type ForkRow = Pick<SessionRow, 'id' | 'origin' | 'forkedAt'>

/** Entries from..to, all stored in one session. */
export interface StoredRange {
  readonly sessionId: SessionId
  readonly from: number
  readonly to: number
}

/** The session's own entries have numbers above this one. */
export function ownAfter({ origin, forkedAt }: ForkRow): number {
  return origin === null ? 0 : forkedAt
}

/**
 * The session, its origin, the origin's origin, and so on. Fork numbers must fall at each step, so
 * that a damaged row cannot cause an endless loop.
 */
export function lineOf<Row extends ForkRow>(
  session: Row,
  find: (id: SessionId) => Row | undefined,
): readonly Row[] {
  const line = [session]
  for (let row = session; row.origin !== null; ) {
    const origin = find(row.origin)
    if (origin === undefined || ownAfter(origin) >= ownAfter(row)) return line
    line.push(origin)
    row = origin
  }
  return line
}

/** The sessions that store entries from..to of the line's first session, oldest entries first. */
export function storedRanges(
  line: readonly ForkRow[],
  from: number,
  to: number,
): readonly StoredRange[] {
  const found: StoredRange[] = []
  let last = to
  for (const session of line) {
    const after = ownAfter(session)
    if (last > after && last >= from) {
      found.unshift({ sessionId: session.id, from: Math.max(from, after + 1), to: last })
    }
    last = Math.min(last, after)
  }
  return found
}

/** The session that stores an entry of the line's first session. */
export function keeperOf<Row extends ForkRow>(
  line: readonly Row[],
  number: number,
): Row | undefined {
  return line.find((session) => number > ownAfter(session))
}
