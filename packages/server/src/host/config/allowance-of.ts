import type { AllowanceLimits, Limit } from '../../auxiliary/allowance.ts'
import type { Prices } from '../../auxiliary/prices.ts'
import type { SpendLimits } from '../../runtime/models/spend-caps.ts'
import { PROCESS_LIMITS, type ProcessLimits } from '../../tools/process/processes.ts'
import type { Config } from './schema/schema.ts'

/** The auxiliary budget, in the units of the auxiliary folder. */
export function allowanceOf({ limits: { budget } }: Config): AllowanceLimits {
  return {
    windowMs: budget.windowSeconds * 1_000,
    session: limitOf(budget.session),
    host: limitOf(budget.host),
  }
}

/** Spending limits of turns. */
export function spendLimitsOf({ limits: { spend } }: Config): SpendLimits {
  const { turn, session, agent, day } = spend
  return {
    turn: limitOf(turn),
    session: limitOf(session),
    agent: limitOf(agent),
    day: limitOf(day),
  }
}

function limitOf({
  tokens,
  money,
}: {
  readonly tokens?: number | undefined
  readonly money?: number | undefined
}): Limit {
  return {
    ...(tokens !== undefined && { tokens }),
    ...(money !== undefined && { cost: Math.round(money * 1_000_000) }),
  }
}

const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

export function pricesOf({ limits: { prices } }: Config): Prices {
  return Object.fromEntries(
    Object.entries({ 'stand-in': FREE, ...prices }).map(
      ([model, { input, output, cacheRead, cacheWrite }]) => [
        model,
        {
          input,
          output,
          ...(cacheRead !== undefined && { cacheRead }),
          ...(cacheWrite !== undefined && { cacheWrite }),
        },
      ],
    ),
  )
}

/** Limits of background programs. */
export function processLimitsOf({ limits: { processes } }: Config): ProcessLimits {
  const { secondsMax, ...counts } = processes
  return { ...PROCESS_LIMITS, ...counts, timeMs: secondsMax * 1_000 }
}
