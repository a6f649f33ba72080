import type { JsonObject } from '#core/base/json'
import { fixedTokensMax, limitsFor } from '#core/session/limits'
import type { Limits } from '#core/store/tables/rows'
import { capabilitiesOf } from '../../model/routes/windows.ts'
import type { History } from '../../proxy/history.ts'
import { leadingItems } from '../../proxy/outgoing.ts'
import { textAt } from '../../proxy/wire/fields.ts'
import type { ClientRequest } from './body-cache.ts'

/** What surrounds the conversation in a client's requests. Only these sizes are recorded. */
export interface RequestFrame {
  /** The model's. */
  readonly windowTokens: number
  /** Of system text and tools, which are sent with every request. */
  readonly fixedTokens: number
}

/**
 * The share of the window at which the next handoff is prepared in the background, by what the
 * provider counted in the last request.
 */
export const SOFT_SHARE = 0.65
/** Above this share of the window the provider would refuse a request. */
export const HARD_SHARE = 0.92
const BYTES_PER_TOKEN = 4
/** As a share of the window. A client's tools change by a few words from start to start. */
const NOTED_CHANGE = 0.02

/** `given`: the window that the user named. */
export function frameOf(
  history: History,
  { headers }: Pick<ClientRequest, 'headers'>,
  given?: number,
): RequestFrame {
  const { body } = history
  const windowTokens = given ?? windowOf(requestedModel(history), headers)
  const lead = leadingItems(history)
  const start = body.items[lead]?.from ?? body.listTo
  const bytes = start + body.bytes.length - body.listTo + laterBytes(history, lead)
  const tokens = Math.ceil(bytes / BYTES_PER_TOKEN)
  return { windowTokens, fixedTokens: Math.min(tokens, fixedTokensMax({ windowTokens })) }
}

/**
 * After a compaction of its own, or `leave`, Codex sends its system texts and tools behind the summary.
 * Of each kind the newest counts, as `coveredNotes` keeps it.
 */
function laterBytes({ body, items }: History, lead: number): number {
  const newest = new Map<string, number>()
  for (let index = lead; index < items.length; index += 1) {
    const { hashes = [], rank, notes = [] } = items[index] ?? {}
    const kind = rank ?? notes.map((note) => note.kind).join('\n')
    if (hashes.length > 0 || kind === '') continue
    const { from = 0, to = 0 } = body.items[index] ?? {}
    newest.set(kind, to - from)
  }
  return newest.values().reduce((sum, size) => sum + size, 0)
}

export function isSameFrame(one: RequestFrame, other: RequestFrame): boolean {
  const difference = Math.abs(one.fixedTokens - other.fixedTokens)
  return one.windowTokens === other.windowTokens && difference <= one.windowTokens * NOTED_CHANGE
}

/** A change of settings, as the store takes it. */
export function frameSettings(
  frame: RequestFrame,
  body: JsonObject,
): { readonly limits: Limits; readonly tokens: number; readonly body: JsonObject } {
  return { limits: limitsFor(frame), tokens: frame.fixedTokens, body }
}

/** Agents do not fit into a small window, so an unknown model gets a common window size. */
const UNKNOWN_TOKENS = 128_000
const LONG_TOKENS = 1_000_000
const UNKNOWN = capabilitiesOf({ model: 'unknown' }).windowTokens

function windowOf(model: string, headers: ClientRequest['headers']): number {
  if (headers['anthropic-beta']?.includes('context-1m') || model.includes('[1m]')) {
    return LONG_TOKENS
  }
  return hasKnownWindow(model) ? capabilitiesOf({ model }).windowTokens : UNKNOWN_TOKENS
}

export function hasKnownWindow(model: string): boolean {
  return capabilitiesOf({ model }).windowTokens !== UNKNOWN
}

/** The model that a request names. */
export function requestedModel({ body }: Pick<History, 'body'>): string {
  return textAt(body.fields, 'model')
}
