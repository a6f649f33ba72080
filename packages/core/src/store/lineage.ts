import type { SessionId } from '../base/ids.ts'
import type { SessionRow } from './rows.ts'

/** What is known of a fork without its entries. */
export type ForkRow = Pick<SessionRow, 'id' | 'origin' | 'forkedAt'>

/** Entries from..to as one session keeps them. */
export interface Stretch {
  readonly sessionId: SessionId
  readonly from: number
  readonly to: number
}

/** A session's own entries have higher numbers than this one. */
export function ownAfter({ origin, forkedAt }: ForkRow): number {
  return origin === null ? 0 : forkedAt
}

/**
 * The session, the one it was forked from, and so on. Numbers fall on the way up: a row that was
 * harmed leads into no circle.
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

/** Who keeps these entries of the first session of a line, oldest first. */
export function stretchesOf(
  line: readonly ForkRow[],
  from: number,
  to: number,
): readonly Stretch[] {
  const found: Stretch[] = []
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

/** The session that keeps an entry of the first one of a line. */
export function keeperOf<Row extends ForkRow>(
  line: readonly Row[],
  number: number,
): Row | undefined {
  return line.find((session) => number > ownAfter(session))
}
