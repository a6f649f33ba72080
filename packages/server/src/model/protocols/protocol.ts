import type { JsonValue } from '#core/base/json'
import type { AssistantMessage } from '#core/message/message'
import type { CallUsage, ModelRequest } from '../model.ts'
import type { FinishReason, Malformation } from '../outcomes/outcome.ts'
import type { ModelRoute } from '../routes/route.ts'

/**
 * How a conversation goes over the wire, both ways, in our own hands. The provider's package sees
 * one placeholder instead of the messages; at the fetch boundary the placeholder's bytes are
 * replaced by ours. Its own path through typed messages drops, reorders or rewrites some of the
 * provider's items, and would fetch what it finds behind addresses.
 */
export interface ModelProtocol {
  /** The members of the body that hold the conversation, as JSON text without the braces. */
  writeMembers(request: ModelRequest, route: ModelRoute): string
  /** The member that the provider's package writes for one user message with this text. */
  placeholder(text: string): string
  /** Extra fields that the provider requires for some of its own items. */
  headers?(request: ModelRequest): { readonly [name: string]: string }
  collector(): Collector
}

/** Assembles an answer from the raw events, before any schema is applied. */
export interface Collector {
  /** Gives the item that the event completed, if it is one that our model has no word for. */
  take(event: JsonValue): JsonValue | undefined
  /** The answer; if it is incomplete, only its usable part: no calls, nothing partial. */
  message(state: { readonly isWhole: boolean }): AssistantMessage | null
  readonly fault?: Malformation | undefined
  /** Why it ended, where a package takes an item that it does not know for the end of everything. */
  readonly finish?: FinishReason | undefined
  /** The usage of an interrupted answer, if the provider reports it in advance. */
  readonly usage?: CallUsage | undefined
}

/**
 * The body with our members in the placeholder's place; undefined unless it occurs exactly once.
 */
export function splice(
  body: string,
  { placeholder, members }: { placeholder: string; members: string },
): string | undefined {
  const at = body.indexOf(placeholder)
  if (at === -1 || body.includes(placeholder, at + 1)) return undefined
  return `${body.slice(0, at)}${members}${body.slice(at + placeholder.length)}`
}

/** `{"a":1}` as `"a":1`. */
export function membersOf(wire: { readonly [key: string]: JsonValue }): string {
  return JSON.stringify(wire).slice(1, -1)
}

/** An answer that says nothing is none; one that broke off keeps no calls. */
export function asReply(
  message: AssistantMessage | undefined,
  { isWhole }: { readonly isWhole: boolean },
): AssistantMessage | null {
  if (message === undefined) return null
  const parts = isWhole ? message.parts : message.parts.filter((part) => part.type !== 'tool-call')
  return parts.length === 0 ? null : { ...message, parts }
}
