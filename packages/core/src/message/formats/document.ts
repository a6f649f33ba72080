import { isArray, isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Conversation, Wrapper } from '../codec.ts'
import { findHandoff } from '../handoff/envelope.ts'
import type { Message } from '../message.ts'
import type { CodecName } from './names.ts'
import { textField, without } from './origin.ts'

/** A request as a JSON document: a bare array of messages, or an object around one. */
export interface Request {
  readonly items: readonly JsonValue[]
  readonly wrapper?: Wrapper
}

export function openRequest(document: JsonValue, key: Wrapper['key']): Request | undefined {
  if (isArray(document)) return { items: document }
  const items = isObject(document) ? document[key] : undefined
  if (!isObject(document) || !isArray(items)) return undefined
  const fields = without(document, [key]) ?? {}
  return { items, wrapper: { key, fields } }
}

export function closeRequest(items: readonly JsonValue[], wrapper: Wrapper | undefined): JsonValue {
  return wrapper === undefined ? items : { ...wrapper.fields, [wrapper.key]: items }
}

/** The last step of every codec: turns our own envelopes in a foreign file back into handoffs. */
export function conversationOf<Name extends CodecName>(
  format: Name,
  messages: readonly Message[],
  rest: {
    readonly wrapper?: Wrapper | undefined
    readonly header?: readonly JsonValue[] | undefined
    readonly model?: string | undefined
    readonly notes?: readonly string[]
  } = {},
): Conversation<Name> {
  const { wrapper, header, model, notes = [] } = rest
  return {
    format,
    messages: findHandoff(messages),
    ...(wrapper !== undefined && { wrapper }),
    ...(header !== undefined && header.length > 0 && { header }),
    ...(model !== undefined && { model }),
    notes,
  }
}

export function modelOf(wrapper: Wrapper | undefined): string | undefined {
  return wrapper === undefined ? undefined : textField(wrapper.fields, 'model')
}

/** Why a request cannot be read. */
export function rejectRequest(
  document: JsonValue,
  key: Wrapper['key'],
  rejectItem: (item: JsonObject) => string | undefined,
): string | undefined {
  const request = openRequest(document, key)
  if (request === undefined) return `expected an array, or an object with an array "${key}"`
  return rejectItems(request, rejectItem)
}

export function rejectItems(
  { items, wrapper }: Request,
  rejectItem: (item: JsonObject) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const position = `${wrapper?.key ?? 'item'} ${index}`
    if (!isObject(item)) return `${position} is not an object`
    const reason = rejectItem(item)
    if (reason !== undefined) return `${position} ${reason}`
  }
  return undefined
}

/** Why a format with these roles cannot read the request's messages. */
export function rejectMessages(document: JsonValue, roles: readonly string[]): string | undefined {
  return rejectRequest(document, 'messages', (item) => rejectRole(item, roles))
}

/** Why an item's role is not one of the format's. */
export function rejectRole(item: JsonObject, roles: readonly string[]): string | undefined {
  const { role } = item
  if ('parts' in item && !('content' in item)) {
    const isForPages = typeof item['id'] === 'string'
    return isForPages
      ? 'is a UI message; give what convertToModelMessages makes of it'
      : 'has "parts" where "content" is due'
  }
  if (typeof role === 'string' && roles.includes(role)) return undefined
  if (role === undefined) return 'has no role'
  return `has the role ${JSON.stringify(role).slice(0, 40)}, known are ${roles.join(', ')}`
}
