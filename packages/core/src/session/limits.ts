import { KnownError } from '../base/errors.ts'
import type { Limits } from '../store/tables/rows.ts'

/**
 * How a model's window is shared out, so that the parts always fit below it (I33): P for system
 * text, tools, pins and memory; H for the handoff; U for input no model has seen; T for the last
 * step's calls and results; O for the answer.
 */
export interface WindowShares {
  readonly windowTokens: number
  /** The longest answer of the model, if known. */
  readonly outputTokensMax?: number
  /** The agent's base: system text and tools. */
  readonly fixedTokens: number
  readonly laneMailMax?: number
  readonly sourceMailMax?: number
}

const OUTPUT_SHARE = 0.1
const OUTPUT_TOKENS_MAX = 20_000
/** The shares of handoff, input and step; smaller if system text and tools are large. */
const PART_SHARE = 0.25
const PART_SHARE_MIN = 0.1
/** The least that pins and memory get beside system text and tools. */
const PIN_SHARE = 0.05
const LANE_MAIL_MAX = 10_000
const SOURCE_MAIL_MAX = 5_000

export class WindowTooSmallError extends KnownError {
  override readonly name = 'WindowTooSmallError'
  readonly code = 'window-too-small'
  readonly retryable = false
}

/** The most that system text and tools may take. */
export function fixedTokensMax(shares: Omit<WindowShares, 'fixedTokens'>): number {
  const part = partOf(shares)
  return shares.windowTokens - outputOf(shares) - part(PIN_SHARE) - 3 * part(PART_SHARE_MIN)
}

export function limitsFor(shares: WindowShares): Limits {
  const { windowTokens, fixedTokens } = shares
  const tokensMax = fixedTokensMax(shares)
  if (fixedTokens > tokensMax) {
    throw new WindowTooSmallError(
      `System text and tools take ${fixedTokens.toLocaleString('en')} tokens, but a window of ${windowTokens.toLocaleString('en')} leaves ` +
        `${tokensMax.toLocaleString('en')} for them. Shorten the system text, switch tools off, or ` +
        'choose a model with a larger window.',
    )
  }
  const part = partOf(shares)
  const outputTokens = outputOf(shares)
  const left = windowTokens - outputTokens - fixedTokens - part(PIN_SHARE)
  const each = Math.min(part(PART_SHARE), Math.floor(left / 3))
  return {
    hardTokens: windowTokens,
    pinTokens: windowTokens - outputTokens - 3 * each,
    handoffTokens: each,
    inputTokens: each,
    stepTokens: each,
    outputTokens,
    laneMailMax: shares.laneMailMax ?? LANE_MAIL_MAX,
    sourceMailMax: shares.sourceMailMax ?? SOURCE_MAIL_MAX,
  }
}

function partOf({ windowTokens }: Pick<WindowShares, 'windowTokens'>) {
  return (share: number) => Math.floor(windowTokens * share)
}

function outputOf(shares: Omit<WindowShares, 'fixedTokens'>): number {
  const { outputTokensMax = OUTPUT_TOKENS_MAX } = shares
  return Math.min(outputTokensMax, OUTPUT_TOKENS_MAX, partOf(shares)(OUTPUT_SHARE))
}
