import { DAY_MS } from '../../base/clock.ts'
import type { RecordAttempt } from '../commits.ts'
import type { UsageRow } from '../operational-rows.ts'
import type { AttemptRow } from '../tables/rows.ts'
import type { Rows, Rule } from './ruling.ts'

export const recordAttempt: Rule<'recordAttempt'> = (rows, attempt) => {
  const attempts = newAttempts(rows, attempt)
  if (attempts.length === 0) return { outcome: { kind: 'duplicate' } }
  return { outcome: { kind: 'done' }, change: { attempts } }
}

/**
 * No call uses more. A provider may claim anything, and two answers of 9e15 tokens each made a sum
 * that no store can read back.
 */
const TOKENS_MAX = 1_000_000_000
const COST_MAX = 2 ** 40

/** Empty: it is recorded already. */
export function newAttempts(rows: Rows, attempt: RecordAttempt): readonly AttemptRow[] {
  if (rows.attempt(attempt.id) !== undefined) return []
  const agent = rows.session(attempt.sessionId)?.agent ?? ''
  const { inputTokens, outputTokens, cachedTokens = 0, cost = null } = attempt
  return [
    {
      ...{ host: '', turn: null, step: null, ...attempt, agent },
      inputTokens: Math.min(inputTokens, TOKENS_MAX),
      outputTokens: Math.min(outputTokens, TOKENS_MAX),
      cachedTokens: Math.min(cachedTokens, TOKENS_MAX),
      cost: cost === null ? null : Math.min(cost, COST_MAX),
    },
  ]
}

export const dropAttempts: Rule<'dropAttempts'> = (rows, { beforeDay, limit }) => {
  const old = rows.attemptsBefore(beforeDay * DAY_MS, limit)
  const outcome = { kind: 'dropped', count: old.length } as const
  if (old.length === 0) return { outcome }
  return { outcome, change: { attemptsRemoved: old.map(({ id }) => id), usage: sumByDay(old) } }
}

function sumByDay(attempts: readonly AttemptRow[]): readonly UsageRow[] {
  const sums = new Map<string, UsageRow>()
  for (const { sessionId, agent, modelRoute, task, host, at, ...call } of attempts) {
    const day = Math.floor(at / DAY_MS)
    const key = JSON.stringify([sessionId, day, modelRoute, task, host])
    const sum = sums.get(key)
    sums.set(key, {
      ...{ sessionId, agent, day, modelRoute, task, host },
      attempts: (sum?.attempts ?? 0) + 1,
      inputTokens: (sum?.inputTokens ?? 0) + call.inputTokens,
      outputTokens: (sum?.outputTokens ?? 0) + call.outputTokens,
      cachedTokens: (sum?.cachedTokens ?? 0) + call.cachedTokens,
      cost: (sum?.cost ?? 0) + (call.cost ?? 0),
      unpriced: (sum?.unpriced ?? 0) + (call.cost === null ? 1 : 0),
    })
  }
  return [...sums.values()]
}
