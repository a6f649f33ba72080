import { expect, it } from 'vitest'
import { operationId, sessionId } from '#core/base/ids'
import { openMemoryStore } from '#core/store/memory/open'
import { NOTHING_SPENT } from '../../auxiliary/attempts.ts'
import { storedAttempts } from './attempts.ts'

const one = sessionId('one')
const other = sessionId('other')

it('budgets count auxiliary calls only, by session and host, and not those of turns', async () => {
  const store = openMemoryStore()
  const attempts = storedAttempts(store)
  let count = 0
  const call = (task: string, more: object = {}) =>
    attempts.record({
      ...{ id: operationId(`o${++count}`), sessionId: one, task, modelRoute: 'r' },
      ...{ outcome: 'answered', inputTokens: 100, outputTokens: 10, cachedTokens: 5 },
      ...{ cost: 7, at: 1_000, ...more },
    })
  await call('turn')
  await call('turn', { sessionId: other, cost: null })
  expect(await attempts.sum({ sessionId: one, since: 0 })).toEqual(NOTHING_SPENT)
  expect(await attempts.sum({ since: 0 })).toEqual(NOTHING_SPENT)
  await call('compaction')
  await call('title', { sessionId: other, cost: null })
  await call('compaction', { at: 10 })
  const spent = { attempts: 1, inputTokens: 100, outputTokens: 10, cachedTokens: 5 }
  expect(await attempts.sum({ sessionId: one, since: 500 })).toEqual({
    ...spent,
    cost: 7,
    unpriced: 0,
  })
  expect(await attempts.sum({ sessionId: other, since: 500 })).toEqual({
    ...spent,
    cost: 0,
    unpriced: 1,
  })
  const whole = { attempts: 2, inputTokens: 200, outputTokens: 20, cachedTokens: 10 }
  expect(await attempts.sum({ since: 500 })).toEqual({ ...whole, cost: 7, unpriced: 1 })
  // Calls of another host are in the same store but billed elsewhere.
  await store.recordAttempt({
    ...{ id: operationId('far'), sessionId: one, task: 'title', modelRoute: 'r' },
    ...{ outcome: 'answered', inputTokens: 9, outputTokens: 9, at: 1_000, host: 'elsewhere' },
  })
  expect((await attempts.sum({ since: 500 })).attempts).toBe(2)
  await store.close()
})

it('a call is recorded once; a second record of it is reported as such', async () => {
  const store = openMemoryStore()
  const attempts = storedAttempts(store)
  const attempt = {
    ...{ id: operationId('probe-1'), sessionId: one, task: 'title', modelRoute: 'r' },
    ...{ outcome: 'probing', inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0, at: 1 },
  }
  expect(await attempts.record(attempt)).toBe(true)
  expect(await storedAttempts(store).record(attempt)).toBe(false)
  await store.close()
})
