import type { JsonValue } from '#core/base/json'
import type { AssistantMessage } from '#core/message/message'
import type { CallUsage, ModelRequest } from '../model.ts'
import type { FinishReason, MalformedReason } from '../outcomes/outcome.ts'
import type { ModelRoute } from '../routes/route.ts'

/**
 * Our own encoding of conversations on the wire, in both directions. The provider's package sees
 * one placeholder instead of the messages; at the fetch boundary the placeholder's bytes are
 * replaced by ours. The package's own typed messages would drop, reorder or rewrite some of the
 * provider's items, and it would fetch URLs that it finds in messages.
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
  /** Returns the item that the event completed, if our message model has no type for it. */
  take(event: JsonValue): JsonValue | undefined
  /** The answer; if it is incomplete, only its usable part: no calls, nothing partial. */
  message(state: { readonly isWhole: boolean }): AssistantMessage | null
  /** What is kept of the answer, in characters; every part counts as `PART_SIZE` of them besides. */
  readonly size: number
  readonly fault?: MalformedReason | undefined
  /** Why the answer ended, for packages that treat an unknown item as the end. */
  readonly finish?: FinishReason | undefined
  /** The usage of an interrupted answer, if the provider reports it in advance. */
  readonly usage?: CallUsage | undefined
}

/**
 * The body with the placeholder replaced by our members; undefined unless it occurs exactly once.
 */
export function splice(
  body: string,
  { placeholder, members }: { placeholder: string; members: string },
): string | undefined {
  const at = body.indexOf(placeholder)
  if (at === -1 || body.includes(placeholder, at + 1)) return undefined
  return `${body.slice(0, at)}${members}${body.slice(at + placeholder.length)}`
}

/** Storing and showing a part costs as much as so many characters. */
export const PART_SIZE = 2_048

/** The characters of all strings in a value; every value counts as a few besides. */
export function keptSize(value: JsonValue | undefined): number {
  if (typeof value === 'string') return VALUE + value.length
  if (typeof value !== 'object' || value === null) return VALUE
  return Object.values(value).reduce<number>((sum, each) => sum + keptSize(each), VALUE)
}

const VALUE = 8

/** `{"a":1}` as `"a":1`. */
export function membersOf(wire: { readonly [key: string]: JsonValue }): string {
  return JSON.stringify(wire).slice(1, -1)
}

/** An answer without content is null; a cut-off one keeps no calls. */
export function asReply(
  message: AssistantMessage | undefined,
  { isWhole }: { readonly isWhole: boolean },
): AssistantMessage | null {
  if (message === undefined) return null
  const parts = isWhole ? message.parts : message.parts.filter((part) => part.type !== 'tool-call')
  return parts.length === 0 ? null : { ...message, parts }
}
