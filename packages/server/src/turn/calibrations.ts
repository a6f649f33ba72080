import type { SessionId } from '#core/base/ids'
import { SampledMap } from '#core/base/sampled-map'
import { type Calibration, calibrated, observe, UNCALIBRATED } from '#core/tokens/calibration'

interface Known {
  readonly model: string
  readonly calibration: Calibration
  readonly estimated: number
  readonly reported: number
}

/** About 200 bytes each. */
const SESSIONS_MAX = 20_000

/**
 * Each session's calibration from reported usage, for its current model. Kept in memory: after a
 * restart it is learnt again within a few steps, and until then the estimate is used.
 */
export class Calibrations {
  readonly #known = new SampledMap<SessionId, Known>(SESSIONS_MAX)

  /** The size of a context as we counted it and as the provider reported it. */
  observe(
    sessionId: SessionId,
    seen: {
      readonly model: string
      readonly estimated: number
      readonly reported: number
    },
  ): void {
    const before = this.#known.get(sessionId)
    const isSame = before?.model === seen.model
    const calibration = isSame
      ? observe(before.calibration, {
          estimated: seen.estimated - before.estimated,
          reported: seen.reported - before.reported,
        })
      : UNCALIBRATED
    this.#known.set(sessionId, { ...seen, calibration })
  }

  /** An estimate for this session, corrected by its reported usage. */
  correct(sessionId: SessionId, estimate: number): number {
    const { calibration = UNCALIBRATED } = this.#known.get(sessionId) ?? {}
    return calibrated(calibration, estimate)
  }
}
