import type { JsonObject } from '#core/base/json'
import { fixedTokensMax, limitsFor } from '#core/session/limits'
import type { Limits } from '#core/store/rows'
import type { History } from '../../proxy/history.ts'

/** What surrounds the conversation in a client's requests. Only these sizes are recorded. */
export interface Frame {
  /** The model's. */
  readonly windowTokens: number
  /** Of system text and tools, which are sent with every request. */
  readonly fixedTokens: number
}

const BYTES_PER_TOKEN = 4
/** As a share of the window. A client's tools change by a few words from start to start. */
const NOTED_CHANGE = 0.02

export function frameOf({ body, items }: History, windowTokens: number): Frame {
  const first = items.findIndex(({ hashes }) => hashes.length > 0)
  const start = body.items[first]?.from ?? body.listTo
  const bytes = start + body.bytes.length - body.listTo
  const tokens = Math.ceil(bytes / BYTES_PER_TOKEN)
  return { windowTokens, fixedTokens: Math.min(tokens, fixedTokensMax({ windowTokens })) }
}

export function isSameFrame(one: Frame, other: Frame): boolean {
  const difference = Math.abs(one.fixedTokens - other.fixedTokens)
  return one.windowTokens === other.windowTokens && difference <= one.windowTokens * NOTED_CHANGE
}

/** A change of settings, as the store takes it. */
export function settingsOf(
  frame: Frame,
  body: JsonObject,
): { readonly limits: Limits; readonly tokens: number; readonly body: JsonObject } {
  return { limits: limitsFor(frame), tokens: frame.fixedTokens, body }
}
