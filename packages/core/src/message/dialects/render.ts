import { isArray, isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Codec } from '../codec.ts'
import type { Dialect } from '../dialect.ts'
import { anthropicFormat } from '../formats/anthropic/anthropic.ts'
import { openaiChatFormat } from '../formats/openai-chat/openai-chat.ts'
import { openaiResponsesFormat } from '../formats/openai-responses/openai-responses.ts'
import type { Message, Part, ResultPart, UserMessage } from '../message.ts'
import { textOf } from '../text.ts'
import { checkWire } from './check.ts'
import { formatGemini } from './gemini.ts'
import { normalise } from './normalise.ts'

/** What a provider is sent: `messages`, `input` or `contents`, and system text where it goes beside. */
export type Wire = JsonObject

/**
 * The context as a request in the dialect. It never breaks a rule of `checkWire`, whatever the
 * messages are. A request is sent to be answered: where the last word is the model's, a short user
 * message asks it to go on (newer models refuse to continue their own words, and Gemini does).
 */
export function render(messages: readonly Message[], dialect: Dialect): Wire {
  const request = endingWithRequest(normalise(messages, dialect))
  const wire = write(request, dialect)
  // Read from this very format, messages go out in the spelling they came in, unless that is one
  // that the provider refuses (old styles, servers with tastes of their own).
  if (!request.some(hasSpelling) || checkWire(dialect, wire).length === 0) return wire
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

function write(messages: readonly Message[], dialect: Dialect): Wire {
  const wire = FORMATTERS[dialect](messages)
  return isWellFormed(wire) ? wire : (wellFormed(wire) as Wire)
}

const FORMATTERS: { readonly [dialect in Dialect]: (messages: readonly Message[]) => Wire } = {
  'openai-chat': (messages) => formatWith(openaiChatFormat, 'messages', messages),
  'openai-responses': (messages) => formatWith(openaiResponsesFormat, 'input', messages),
  anthropic: (messages) => joinTurns(formatWith(anthropicFormat, 'messages', messages)),
  gemini: formatGemini,
  strict: formatStrict,
}

function formatWith(codec: Codec, key: 'messages' | 'input', messages: readonly Message[]): Wire {
  const wrapper = { key, fields: {} }
  return codec.format({ format: codec.name, messages, wrapper, notes: [] }) as Wire
}

/** Anthropic's user messages hold results and words: one message for the results and what follows. */
function joinTurns(wire: Wire): Wire {
  const turns: JsonObject[][] = []
  for (const message of wire['messages'] as readonly JsonObject[]) {
    const turn = turns.at(-1)
    if (turn?.[0]?.['role'] === message['role']) turn?.push(message)
    else turns.push([message])
  }
  const messages = turns.map((turn) => {
    const [first = {}] = turn
    if (turn.length === 1) return first
    return { role: first['role'] ?? '', content: turn.flatMap(({ content }) => blocksOf(content)) }
  })
  return { ...wire, messages }
}

function blocksOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return isArray(content) ? content : []
}

function hasSpelling(message: Message): boolean {
  if (message.origin !== undefined) return true
  return message.role !== 'handoff' && message.parts.some((part) => part.origin !== undefined)
}

/** Without what codecs remember of a source's spelling. */
function withoutSpelling(message: Message): Message {
  const { origin: _, ...rest } = message
  if (rest.role === 'handoff') return rest
  return { ...rest, parts: rest.parts.map(plainPart) } as Message
}

/** A provider's item stays: by its origin a codec knows it for its own. */
function plainPart(part: Part): Part {
  if (part.type === 'opaque') return part
  const { origin: _, ...rest } = part
  return rest.type === 'tool-result'
    ? { ...rest, output: rest.output.map(plainPart) as ResultPart[] }
    : rest
}

/** Half a surrogate pair cannot be sent and becomes the replacement character. */
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

/** OpenAI's chat shape with text only, for local servers whose chat templates take nothing else. */
function formatStrict(messages: readonly Message[]): JsonObject {
  const system = messages.filter((message) => message.role === 'system').map(textOf)
  const written: JsonValue[] =
    system.length > 0 ? [{ role: 'system', content: system.join('\n\n') }] : []
  for (const message of messages) {
    if (message.role !== 'system') written.push({ role: message.role, content: textOf(message) })
  }
  return { messages: written }
}
