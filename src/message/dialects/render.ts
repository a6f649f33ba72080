import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Codec } from '../codec.ts'
import { anthropic } from '../codecs/anthropic.ts'
import { openaiChat } from '../codecs/openai-chat.ts'
import { openaiResponses } from '../codecs/openai-responses.ts'
import type { Dialect } from '../dialect.ts'
import type { Message, UserMessage } from '../message.ts'
import { checkWire } from './check.ts'
import { formatGemini } from './gemini.ts'
import { normalise } from './normalise.ts'
import { formatStrict } from './strict.ts'

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
  const isAsRead = request.some((message) => message.origin !== undefined)
  if (!isAsRead || checkWire(dialect, wire).length === 0) return wire
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
  return wellFormed(FORMATTERS[dialect](messages)) as Wire
}

const FORMATTERS: { readonly [dialect in Dialect]: (messages: readonly Message[]) => Wire } = {
  'openai-chat': (messages) => formatWith(openaiChat, 'messages', messages),
  'openai-responses': (messages) => formatWith(openaiResponses, 'input', messages),
  anthropic: (messages) => joinTurns(formatWith(anthropic, 'messages', messages)),
  gemini: formatGemini,
  strict: formatStrict,
}

function formatWith(codec: Codec, key: 'messages' | 'input', messages: readonly Message[]): Wire {
  const wrapper = { key, fields: {} }
  return codec.format({ format: codec.name, messages, wrapper, notes: [] }) as Wire
}

/** Anthropic's user messages hold results and words: one message for both, the results first. */
function joinTurns(wire: Wire): Wire {
  const turns: { role: JsonValue; messages: JsonObject[] }[] = []
  for (const message of wire['messages'] as readonly JsonObject[]) {
    const { role = '' } = message
    const turn = turns.at(-1)
    if (turn?.role === role) turn.messages.push(message)
    else turns.push({ role, messages: [message] })
  }
  const messages = turns.map(({ role, messages }) => {
    const [only] = messages
    if (messages.length === 1) return only ?? {}
    const blocks = messages.flatMap(({ content }) => blocksOf(content))
    const [results = [], others = []] = [true, false].map((isResult) =>
      blocks.filter((block) => (isObject(block) && block['type'] === 'tool_result') === isResult),
    )
    return { role, content: [...results, ...others] }
  })
  return { ...wire, messages }
}

function blocksOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? (content as readonly JsonValue[]) : []
}

/** Without what codecs remember of a source's spelling. Provider's items are known by theirs. */
function withoutSpelling(message: Message): Message {
  const { origin: _, ...rest } = message
  if (rest.role === 'handoff') return rest
  const parts = (rest.parts as readonly Part[]).map((part) => {
    if (part.type === 'opaque') return part
    const { origin: _, ...plain } = part
    return plain.type === 'tool-result' ? { ...plain, output: plain.output.map(bare) } : plain
  })
  return { ...rest, parts } as Message
}

/** Half a surrogate pair becomes the replacement character: it cannot be sent. Others stay as they are. */
function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed()
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map(wellFormed)
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => [
    key.toWellFormed(),
    wellFormed(item),
  ])
  return entries.every(([key, item]) => item === value[key]) ? value : Object.fromEntries(entries)
}
