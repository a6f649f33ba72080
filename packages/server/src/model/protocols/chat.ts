import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { render } from '#core/message/dialects/render'
import { openaiChatFormat } from '#core/message/formats/openai-chat/openai-chat'
import type { MalformedReason } from '../outcomes/outcome.ts'
import {
  asReply,
  type Collector,
  keptSize,
  type ModelProtocol,
  membersOf,
  PART_SIZE,
} from './protocol.ts'

/** OpenAI's Chat Completions and compatible servers: an answer is one message in deltas. */
export const chatProtocol: ModelProtocol = {
  writeMembers({ messages }, { dialect }) {
    return membersOf(render(messages, dialect ?? 'openai-chat'))
  },
  placeholder: (text) => `"messages":[{"role":"user","content":"${text}"}]`,
  collector: () => new ChatCollector(),
}

type Fields = { [key: string]: JsonValue }

class ChatCollector implements Collector {
  fault: MalformedReason | undefined
  size = 0
  #content = ''
  /** Everything beside the content: reasoning under several names, refusals, future fields. */
  readonly #beside: Fields = {}
  readonly #calls: Fields[] = []
  #id: JsonValue | undefined
  #chunks = 0

  take(event: JsonValue): undefined {
    const [choice] = isObject(event) && Array.isArray(event['choices']) ? event['choices'] : []
    const delta: JsonValue | undefined = isObject(choice) ? choice['delta'] : undefined
    if (!isObject(event) || !isObject(delta)) return
    this.#checkId(event['id'])
    this.size += keptSize(delta)
    for (const key in delta) {
      const value = delta[key]
      if (value === null || value === undefined || value === '') continue
      if (key === 'content' && typeof value === 'string') this.#content += value
      else if (key === 'tool_calls' && Array.isArray(value))
        for (const call of value) this.#call(call)
      else if (key !== 'role') join(this.#beside, key, value)
    }
  }

  message(state: { readonly isWhole: boolean }) {
    const calls = this.#calls.filter((call) => call !== undefined)
    const isEmpty = this.#content === '' && calls.length === 0
    if (isEmpty && Object.keys(this.#beside).length === 0) return null
    const written = {
      role: 'assistant',
      content: this.#content === '' ? null : this.#content,
      ...this.#beside,
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    const [message] = openaiChatFormat.parse([written]).messages
    return asReply(message?.role === 'assistant' ? message : undefined, state)
  }

  #call(piece: JsonValue): void {
    if (!isObject(piece)) return
    const { index, function: called, ...fields } = piece
    const at = typeof index === 'number' && index < CALLS_MAX ? index : this.#calls.length
    const call = this.#calls[at] ?? {}
    if (this.#calls[at] === undefined) this.size += PART_SIZE
    this.#calls[at] = call
    for (const [key, value] of Object.entries(fields)) if (value !== null) call[key] = value
    if (!isObject(called)) return
    const body: Fields = isObject(call['function']) ? { ...call['function'] } : {}
    for (const [key, value] of Object.entries(called)) {
      // The name is sent once; if a server repeats it, the repetition must not be appended.
      if (key === 'arguments') join(body, key, value)
      else if (value !== null) body[key] = value
    }
    call['function'] = body
  }

  /**
   * Chunks of one answer share an id. Some servers give every chunk its own id, which means
   * nothing; an id that changes after it was stable means another answer.
   */
  #checkId(id: JsonValue | undefined): void {
    if (typeof id !== 'string' || id === '') return
    this.#chunks++
    this.#id ??= id
    if (id === this.#id) return
    if (this.#chunks > 2) this.fault ??= 'mixed-answers'
    else this.#chunks = Number.NEGATIVE_INFINITY
  }
}

const CALLS_MAX = 1_000

/** Strings are concatenated, list items are merged by index, and anything else is replaced. */
function join(fields: Fields, key: string, value: JsonValue): void {
  const before = fields[key]
  if (typeof before === 'string' && typeof value === 'string') fields[key] = before + value
  else if (Array.isArray(value)) {
    // The list is our own copy, so it may be changed.
    const list: JsonValue[] = Array.isArray(before) ? before : []
    for (const item of value as readonly JsonValue[]) joinItem(list, item)
    fields[key] = list
  } else fields[key] = value
}

function joinItem(list: JsonValue[], item: JsonValue): void {
  const at = isObject(item)
    ? list.findIndex((other) => isObject(other) && isSameItem(other, item))
    : -1
  const before = list[at]
  if (!isObject(item) || !isObject(before)) {
    list.push(item)
    return
  }
  const joined: Fields = { ...before }
  for (const [key, value] of Object.entries(item)) {
    if (JOINING.includes(key)) join(joined, key, value)
    else if (value !== null) joined[key] = value
  }
  list[at] = joined
}

// OpenRouter's reasoning: deltas of one item share index and type; these fields arrive in deltas.
const JOINING = ['text', 'summary', 'data', 'signature']

function isSameItem(a: JsonObject, b: JsonObject): boolean {
  return typeof a['index'] === 'number' && a['index'] === b['index'] && a['type'] === b['type']
}
