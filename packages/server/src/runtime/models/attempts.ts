import { hostname } from 'node:os'
import type { Store } from '#core/store/contract'
import type { Attempts } from '../../auxiliary/attempts.ts'

/** The record of model calls, kept in the store: breakers and budgets survive a restart. */
export function storedAttempts(
  store: Pick<Store, 'recordAttempt' | 'readAttempts' | 'sumAttempts'>,
): Attempts {
  const host = hostname()
  return {
    async record(attempt) {
      return (await store.recordAttempt({ ...attempt, host })).kind !== 'duplicate'
    },
    read: (query) => store.readAttempts(query),
    // The allowance is for calls beside conversations; the turns themselves stand in the same record.
    async sum({ sessionId, since }) {
      const whose = sessionId === undefined ? { host, since } : { sessionId, since }
      const [all, turns] = await Promise.all([
        store.sumAttempts(whose),
        store.sumAttempts({ ...whose, task: 'turn' }),
      ])
      return {
        attempts: all.attempts - turns.attempts,
        inputTokens: all.inputTokens - turns.inputTokens,
        outputTokens: all.outputTokens - turns.outputTokens,
        cachedTokens: all.cachedTokens - turns.cachedTokens,
        cost: all.cost - turns.cost,
        unpriced: all.unpriced - turns.unpriced,
      }
    },
  }
}
