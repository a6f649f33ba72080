import type { AllowanceLimits, Limit } from '../../auxiliary/allowance.ts'
import type { Prices } from '../../auxiliary/prices.ts'
import { PROCESS_LIMITS, type ProcessLimits } from '../../tools/process/processes.ts'
import type { Config } from './schema/schema.ts'

/** What may be spent, in the units that the auxiliary folder counts in. */
export function allowanceOf({ limits: { budget } }: Config): AllowanceLimits {
  return {
    windowMs: budget.windowSeconds * 1_000,
    session: limitOf(budget.session),
    host: limitOf(budget.host),
  }
}

function limitOf({ tokens, money }: Config['limits']['budget']['host']): Limit {
  return { tokens, ...(money !== undefined && { cost: Math.round(money * 1_000_000) }) }
}

export function pricesOf({ limits: { prices } }: Config): Prices {
  return Object.fromEntries(
    Object.entries(prices).map(([model, { input, output, cacheRead, cacheWrite }]) => [
      model,
      {
        input,
        output,
        ...(cacheRead !== undefined && { cacheRead }),
        ...(cacheWrite !== undefined && { cacheWrite }),
      },
    ]),
  )
}

/** What programs in the background may take. */
export function processLimitsOf({ limits: { processes } }: Config): ProcessLimits {
  const { secondsMax, ...counts } = processes
  return { ...PROCESS_LIMITS, ...counts, timeMs: secondsMax * 1_000 }
}
