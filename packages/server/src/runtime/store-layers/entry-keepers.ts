import { type EntryNumber, entryNumber, type SessionId } from '#core/base/ids'
import type { Reads } from '#core/store/contract'
import { keeperOf, ownAfter } from '#core/store/lineage'
import type { SessionRow } from '#core/store/tables/rows'

/** The session that stores each of these entries: this one, or one that it was forked from. */
export async function byKeeper(
  store: Pick<Reads, 'findSession'>,
  session: SessionRow,
  numbers: readonly number[],
): Promise<ReadonlyMap<SessionRow, readonly EntryNumber[]>> {
  const line = [session]
  const first = Math.min(...numbers)
  for (let row = session; row.origin !== null && first <= ownAfter(row); ) {
    const origin: SessionRow | undefined = await store.findSession(row.origin as SessionId)
    if (origin === undefined || ownAfter(origin) >= ownAfter(row)) break
    line.push(origin)
    row = origin
  }
  return Map.groupBy(numbers.map(entryNumber), (number) => keeperOf(line, number) ?? session)
}
