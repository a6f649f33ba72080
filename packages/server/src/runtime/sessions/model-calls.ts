import type { SessionId } from '#core/base/ids'
import type { Reads } from '#core/store/contract'
import { failureIn } from '../../auxiliary/breaker.ts'
import { explainOutcome, prospectOf } from '../../model/outcomes/outcome.ts'
import { calledIn } from '../../model/routes/route.ts'
import { TURN } from '../models/turn-calls.ts'
import { readUsage, type UsageGroup, type UsageQuery } from '../usage.ts'

/** A failed model call of a turn, described for people. */
export interface CallFailure {
  readonly at: number
  readonly text: string
  /** False: it ends the turn, because only a person can mend it. */
  readonly isTriedAgain: boolean
}

const FAILURES_MAX = 50

/** Oldest first, across all processes. */
export async function readCallFailures(
  store: Pick<Reads, 'readAttempts'>,
  query: { readonly sessionId: SessionId; readonly since: number },
): Promise<readonly CallFailure[]> {
  const calls = await store.readAttempts({ ...query, task: TURN, limit: FAILURES_MAX })
  return calls.toReversed().flatMap(({ outcome, modelRoute, at }) => {
    const failure = failureIn(outcome)
    if (failure === null) return []
    const text = explainOutcome(failure, calledIn(modelRoute))
    return [{ at, text, isTriedAgain: prospectOf(failure) === 'heals' }]
  })
}

export async function readSessionUsage(
  store: Pick<Reads, 'groupAttempts'>,
  sessionId: SessionId,
  query: UsageQuery,
): Promise<readonly UsageGroup[]> {
  return await readUsage(store, { ...query, sessionId })
}
