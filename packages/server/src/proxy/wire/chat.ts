import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { type ClientNote, kindOf, splitNotes } from '../client-notes.ts'
import { callUnit, textUnit, type Unit } from '../unit.ts'
import { countOf, textAt } from './fields.ts'
import { imagePart, outputParts } from './responses.ts'
import type { ClientWire, ReadItem, ReplyReader, ReplyUsage, UpstreamReply } from './wire.ts'

/** OpenAI Chat Completions. */
export const chatWire: ClientWire = {
  list: 'messages',
  read,
  writeHandoff: (text, notes) => {
    const content = [...notes.map((note) => note.text), text].join('\n\n')
    return JSON.stringify({ role: 'user', content })
  },
  openReply: () => new ChatReply(),
}

function read(item: JsonObject): ReadItem {
  const { role, content } = item
  if (role === 'system' || role === 'developer') {
    return { units: [], notes: [], rank: `${role} ${kindOf(plainText(content))}` }
  }
  if (role === 'tool') {
    const output = outputParts(content)
    return {
      units: [{ kind: 'result', id: textAt(item, 'tool_call_id'), output, isError: false }],
      notes: [],
    }
  }
  if (role === 'assistant') return { units: assistantUnits(item), notes: [] }
  const notes: ClientNote[] = []
  const units = partsOf(content).flatMap((part): readonly Unit[] => {
    if (typeof part['text'] !== 'string') {
      return [{ kind: 'block', role: 'user', part: imagePart(part) }]
    }
    const split = splitNotes(part['text'])
    notes.push(...split.notes)
    return textUnit('user', split.text)
  })
  return { units, notes }
}

function partsOf(content: JsonValue | undefined): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return isArray(content) ? content.filter(isObject) : []
}

function plainText(content: JsonValue | undefined): string {
  return partsOf(content)
    .map((part) => textAt(part, 'text'))
    .join('')
}

function assistantUnits(item: JsonObject): readonly Unit[] {
  const calls = isArray(item['tool_calls']) ? item['tool_calls'].filter(isObject) : []
  return [
    ...textUnit('assistant', plainText(item['content'])),
    ...calls.map((call) => {
      const named = isObject(call['function']) ? call['function'] : {}
      return callUnit(textAt(call, 'id'), textAt(named, 'name'), textAt(named, 'arguments'))
    }),
  ]
}

class ChatReply implements ReplyReader {
  #text = ''
  readonly #calls = new Map<number, { id: string; name: string; input: string }>()
  #usage: ReplyUsage | null = null
  #isWhole = false

  take(event: JsonObject): void {
    this.#count(event['usage'])
    const choice = isArray(event['choices']) ? event['choices'][0] : undefined
    if (!isObject(choice)) return
    if (typeof choice['finish_reason'] === 'string') this.#isWhole = true
    const { delta, message } = choice
    const said = isObject(delta) ? delta : isObject(message) ? message : {}
    this.#text += textAt(said, 'content')
    const calls = isArray(said['tool_calls']) ? said['tool_calls'].filter(isObject) : []
    for (const [at, call] of calls.entries()) this.#addCall(call, at)
  }

  #addCall(call: JsonObject, at: number): void {
    const index = typeof call['index'] === 'number' ? call['index'] : at
    const named = isObject(call['function']) ? call['function'] : {}
    const before = this.#calls.get(index)
    this.#calls.set(index, {
      id: before?.id || textAt(call, 'id'),
      name: before?.name || textAt(named, 'name'),
      input: (before?.input ?? '') + textAt(named, 'arguments'),
    })
  }

  reply(): UpstreamReply {
    const calls = [...this.#calls.values()]
      .map(({ id, name, input }) => callUnit(id, name, input))
      .filter((unit) => this.#isWhole || (unit.kind === 'call' && unit.inputText === undefined))
    const units = [...textUnit('assistant', this.#text), ...calls]
    return { units, isWhole: this.#isWhole, usage: this.#usage }
  }

  #count(usage: JsonValue | undefined): void {
    if (!isObject(usage)) return
    const details = usage['prompt_tokens_details']
    this.#usage = {
      inputTokens: countOf(usage['prompt_tokens']),
      cachedTokens: isObject(details) ? countOf(details['cached_tokens']) : 0,
      cacheWriteTokens: 0,
      outputTokens: countOf(usage['completion_tokens']),
    }
  }
}
