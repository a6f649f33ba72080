import { isArray, isObject, type JsonValue } from '../../base/json.ts'
import type { Dialect } from '../dialect.ts'
import type { Message, Part, ResultPart, UserMessage } from '../message.ts'
import { dialectOf } from './all.ts'
import { normalizeFor } from './normalize.ts'
import { type ProviderDialect, violationsOf, type Wire } from './provider-dialect.ts'

/**
 * The context as a request in the dialect. It never breaks a rule of `checkWire`, whatever the
 * messages are. If the last message is the model's, a short user message asks it to continue,
 * because newer models and Gemini refuse to continue their own text.
 */
export function render(messages: readonly Message[], dialect: Dialect): Wire {
  return renderFor(dialectOf(dialect), messages)
}

export function renderFor(dialect: ProviderDialect, messages: readonly Message[]): Wire {
  const request = endingWithRequest(normalizeFor(dialect, messages))
  const wire = write(request, dialect)
  // Messages read from this format are sent as they were written, unless the provider refuses that
  // form (old styles, servers with their own rules).
  if (!request.some(hasSpelling) || violationsOf(dialect, wire).length === 0) return wire
  return write(request.map(withoutSpelling), dialect)
}

const CONTINUE: UserMessage = {
  role: 'user',
  parts: [{ type: 'text', text: 'Continue.' }],
  synthetic: true,
}

function endingWithRequest(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLast((message) => message.role !== 'system')
  return last === undefined || last.role === 'assistant' ? [...messages, CONTINUE] : messages
}

function write(messages: readonly Message[], dialect: ProviderDialect): Wire {
  const wire = dialect.write(messages)
  return isWellFormed(wire) ? wire : (wellFormed(wire) as Wire)
}

function hasSpelling(message: Message): boolean {
  if (message.origin !== undefined) return true
  return message.role !== 'handoff' && message.parts.some((part) => part.origin !== undefined)
}

/** Drops the details that codecs keep of the source's form. */
function withoutSpelling(message: Message): Message {
  const { origin: _, ...rest } = message
  if (rest.role === 'handoff') return rest
  return { ...rest, parts: rest.parts.map(plainPart) } as Message
}

/** A provider's item keeps its origin, by which its codec recognizes it. */
function plainPart(part: Part): Part {
  if (part.type === 'opaque') return part
  const { origin: _, ...rest } = part
  return rest.type === 'tool-result'
    ? { ...rest, output: rest.output.map(plainPart) as ResultPart[] }
    : rest
}

/** A lone surrogate cannot be sent and becomes the replacement character. */
function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed()
  if (isArray(value)) return value.map(wellFormed)
  if (!isObject(value)) return value
  const entries = Object.entries(value)
  return Object.fromEntries(entries.map(([key, item]) => [key.toWellFormed(), wellFormed(item)]))
}

function isWellFormed(value: JsonValue): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (isArray(value)) return value.every(isWellFormed)
  if (!isObject(value)) return true
  for (const key in value) {
    if (!key.isWellFormed() || !isWellFormed(value[key] ?? null)) return false
  }
  return true
}
