import { hostname } from 'node:os'
import type { Store } from '#core/store/contract'
import type { Attempts } from '../../auxiliary/attempts.ts'

/** The record of model calls, kept in the store: breakers and budgets survive a restart. */
export function storedAttempts(
  store: Pick<Store, 'recordAttempt' | 'readAttempts' | 'sumAttempts'>,
): Attempts & { readonly host: string } {
  const host = hostname()
  return {
    host,
    async record(attempt) {
      return (await store.recordAttempt({ ...attempt, host })).kind !== 'duplicate'
    },
    read: (query) => store.readAttempts(query),
    // The budget covers auxiliary calls; calls of turns are in the same record.
    sum: ({ sessionId, since }) =>
      store.sumAttempts({
        ...(sessionId === undefined ? { host } : { sessionId }),
        since,
        isAuxiliary: true,
      }),
  }
}
