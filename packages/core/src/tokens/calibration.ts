/**
 * What a session learns from reported usage: per session and model, the ratio of the provider's
 * count to our estimate. The caller stores the value with the model's name; a new model starts from
 * scratch.
 *
 * The ratio follows the growth of the input between two calls, never its total: the total hides
 * system text and tool schemas that no estimate has seen, growth is made of messages alone.
 */
export interface Calibration {
  readonly ratio: number
  /** Estimated tokens that the ratio is based on; older ones count less. */
  readonly weight: number
}

/** The initial value: the estimate is trusted. */
export const UNCALIBRATED: Calibration = { ratio: 1, weight: 0 }

// Usage outside these bounds has another cause: a compaction, a changed tool set, a provider that
// omits cached tokens, an unlogged reminder.
const OBSERVED_MIN = 0.4
const OBSERVED_MAX = 2.5
// How far one bill may pull: unlogged additions make single bills too high, never too low, and a
// plain mean follows them (bench/tokens: median error of growth 8.2% with a mean, 8.0% so).
const PULL_MAX = 0.15
// The estimate of a whole conversation is never off by more than this; a ratio beyond it is wrong.
const RATIO_MIN = 0.6
const RATIO_MAX = 1.7
// The estimate counts as this much evidence, so that the first small bill cannot dominate it.
const PRIOR_TOKENS = 2_000
// Caps one huge tool result, so that it does not outweigh all later evidence.
const OBSERVED_TOKENS_MAX = 4_000
const WEIGHT_TOKENS_MAX = 40_000

/** Growth of the input as estimated and as billed. Impossible figures leave the value unchanged. */
export function observe(
  calibration: Calibration,
  growth: { readonly estimated: number; readonly reported: number },
): Calibration {
  const { estimated, reported } = growth
  const observed = reported / estimated
  if (!(estimated > 0 && observed >= OBSERVED_MIN && observed <= OBSERVED_MAX)) return calibration

  const gained = Math.min(estimated, OBSERVED_TOKENS_MAX)
  const held = calibration.weight + PRIOR_TOKENS
  const pull = Math.min(PULL_MAX, Math.max(-PULL_MAX, observed - calibration.ratio))
  const ratio = calibration.ratio + (pull * gained) / (held + gained)
  return {
    ratio: Math.min(RATIO_MAX, Math.max(RATIO_MIN, ratio)),
    weight: Math.min(calibration.weight + gained, WEIGHT_TOKENS_MAX),
  }
}

/** The estimate, corrected by the session's ratio. */
export function calibrated(calibration: Calibration, estimate: number): number {
  return Math.round(estimate * calibration.ratio)
}

/**
 * The input of the next call: what the last one was billed plus what was added since. Far better
 * than estimating the whole, which is only needed before the first billed call.
 */
export function predictNext(known: {
  readonly lastReportedTotal: number
  readonly estimatedGrowth: number
  readonly calibration: Calibration
}): number {
  return known.lastReportedTotal + calibrated(known.calibration, known.estimatedGrowth)
}
