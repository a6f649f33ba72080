import { hostname } from 'node:os'
import type { Attempts } from '../auxiliary/attempts.ts'
import type { Store } from '../store/contract.ts'

/** The record of model calls, kept in the store: breakers and budgets survive a restart. */
export function storedAttempts(
  store: Pick<Store, 'recordAttempt' | 'readAttempts' | 'sumAttempts'>,
): Attempts {
  const host = hostname()
  return {
    async record(attempt) {
      await store.recordAttempt({ ...attempt, host })
    },
    read: (query) => store.readAttempts(query),
    sum: ({ sessionId, since }) =>
      store.sumAttempts(sessionId === undefined ? { host, since } : { sessionId, since }),
  }
}
