import { KnownError } from '../base/errors.ts'
import type { Limits } from '../store/rows.ts'

/**
 * How a model's window is shared out, so that the parts always fit below it (I33): P for system
 * text, tools, pins and memory; H for the handoff; U for input no model has seen; T for the last
 * step's calls and results; O for the answer.
 */
export interface WindowShares {
  readonly windowTokens: number
  /** The longest answer of the model, where it is known. */
  readonly outputTokensMax?: number
  /** System text and tools: what an agent begins with. */
  readonly fixedTokens: number
  readonly laneMailMax?: number
  readonly sourceMailMax?: number
}

const OUTPUT_SHARE = 0.1
const OUTPUT_TOKENS_MAX = 20_000
const HANDOFF_SHARE = 0.25
const INPUT_SHARE = 0.25
const STEP_SHARE = 0.25
/** What pins and memory may take beside the system text, at least. */
const PIN_SHARE = 0.05
const LANE_MAIL_MAX = 10_000
const SOURCE_MAIL_MAX = 5_000

export class WindowTooSmallError extends KnownError {
  override readonly name = 'WindowTooSmallError'
  readonly code = 'window-too-small'
  readonly retryable = false
}

/** What system text and tools may take at most. */
export function fixedTokensMax(shares: Omit<WindowShares, 'fixedTokens'>): number {
  const { pinTokens } = partsOf(shares)
  return pinTokens - Math.floor(shares.windowTokens * PIN_SHARE)
}

export function limitsFor(shares: WindowShares): Limits {
  const { windowTokens, fixedTokens } = shares
  const parts = partsOf(shares)
  const room = fixedTokensMax(shares)
  if (fixedTokens > room) {
    throw new WindowTooSmallError(
      `System text and tools take ${fixedTokens} tokens, but a window of ${windowTokens} leaves ` +
        `${room} for them. Shorten the system text, switch tools off, or ` +
        'choose a model with a larger window.',
    )
  }
  return {
    hardTokens: windowTokens,
    ...parts,
    laneMailMax: shares.laneMailMax ?? LANE_MAIL_MAX,
    sourceMailMax: shares.sourceMailMax ?? SOURCE_MAIL_MAX,
  }
}

function partsOf({
  windowTokens,
  outputTokensMax = OUTPUT_TOKENS_MAX,
}: Omit<WindowShares, 'fixedTokens'>) {
  const part = (share: number) => Math.floor(windowTokens * share)
  const outputTokens = Math.min(outputTokensMax, OUTPUT_TOKENS_MAX, part(OUTPUT_SHARE))
  const handoffTokens = part(HANDOFF_SHARE)
  const inputTokens = part(INPUT_SHARE)
  const stepTokens = part(STEP_SHARE)
  const pinTokens = windowTokens - outputTokens - handoffTokens - inputTokens - stepTokens
  return { pinTokens, handoffTokens, inputTokens, stepTokens, outputTokens }
}
