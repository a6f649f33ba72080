import { hash } from 'node:crypto'
import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { BlobSource, Provider, ResultPart } from '#core/message/message'

/**
 * The units of a history, independent of the client's form. Clients change message boundaries,
 * cache marks, reminders and reasoning from request to request; text, calls and results stay. Two
 * histories are the same conversation as far as their units are equal.
 */
export type Unit =
  | { readonly kind: 'text'; readonly role: 'user' | 'assistant'; readonly text: string }
  | {
      readonly kind: 'call'
      readonly id: string
      readonly name: string
      readonly input: JsonValue
      /** The arguments as the model wrote them, if they are not JSON. */
      readonly inputText?: string
    }
  | {
      readonly kind: 'result'
      readonly id: string
      readonly output: readonly ResultPart[]
      readonly isError: boolean
    }
  /** An image, a document, a block of a provider's own. */
  | {
      readonly kind: 'block'
      readonly role: 'user' | 'assistant'
      readonly part: ResultPart
    }

export function hashUnit(unit: Unit): string {
  return hash('sha256', JSON.stringify(identityOf(unit)), 'base64url').slice(0, 27)
}

/** Leaves out differences that do not make another unit. */
function identityOf(unit: Unit): JsonValue {
  switch (unit.kind) {
    case 'text':
      return ['text', unit.role, unit.text.trim()]
    case 'call':
      return ['call', unit.id, unit.name, unit.inputText ?? sorted(unit.input)]
    case 'result':
      return ['result', unit.id, unit.output.flatMap(partIdentity)]
    case 'block':
      return ['block', unit.role, partIdentity(unit.part)]
    default:
      return unit satisfies never
  }
}

function partIdentity(part: ResultPart): JsonValue[] {
  switch (part.type) {
    case 'text': {
      const text = part.text.trim()
      return text === '' ? [] : [text]
    }
    case 'image':
    case 'file':
      return [[part.type, sourceIdentity(part.source)]]
    case 'opaque':
      return [['opaque', sorted(part.value)]]
    default:
      return part satisfies never
  }
}

/** The store keeps bytes under the name `blob:` and their hash. */
const BLOB = 'blob:'

function sourceIdentity(source: BlobSource): string {
  if (source.kind === 'url') return source.url
  if (source.kind === 'id') return source.id
  return BLOB + hash('sha256', Buffer.from(source.data, 'base64'), 'hex')
}

/** Keys in one order: a client may write them in another order the next time. */
function sorted(value: JsonValue): JsonValue {
  if (isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const keys = Object.keys(value).sort()
  return keys.map((key) => [key, sorted(value[key] ?? null)])
}

export function textUnit(role: 'user' | 'assistant', text: string): readonly Unit[] {
  const trimmed = text.trim()
  return trimmed === '' ? [] : [{ kind: 'text', role, text: trimmed }]
}

/** From the arguments as the model wrote them. */
export function callUnit(id: string, name: string, input: string): Unit {
  try {
    return parsedCallUnit(id, name, JSON.parse(input === '' ? '{}' : input) as JsonValue)
  } catch {
    return { kind: 'call', id, name, input: {}, inputText: input }
  }
}

export function parsedCallUnit(id: string, name: string, input: JsonValue): Unit {
  return { kind: 'call', id, name, input: withoutDeepLevels(input) }
}

/** The store takes 256 levels, of which the message around a value needs some. */
const DEPTH_MAX = 200

/**
 * Without the levels that the store would refuse, and that would overflow the stack of what walks
 * them. One such value would otherwise keep its conversation from being recorded ever again.
 */
export function withoutDeepLevels(value: JsonValue, depth = 0): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEPTH_MAX) return '[nested too deep]'
  if (isArray(value)) return value.map((each) => withoutDeepLevels(each, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withoutDeepLevels(each, depth + 1)]),
  )
}

export function opaqueItem(provider: Provider, value: JsonObject): ResultPart {
  const { cache_control: _, ...rest } = value
  return { type: 'opaque', provider, value: withoutDeepLevels(rest) }
}
