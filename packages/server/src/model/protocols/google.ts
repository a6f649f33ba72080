import { randomUUID } from 'node:crypto'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { render } from '#core/message/dialects/render'
import type { AssistantMessage, AssistantPart } from '#core/message/message'
import {
  asReply,
  type Collector,
  keptSize,
  type ModelProtocol,
  membersOf,
  PART_SIZE,
} from './protocol.ts'

/**
 * Google's generateContent: an answer is a list of parts; text arrives in many, everything else
 * whole.
 */
export const googleProtocol: ModelProtocol = {
  writeMembers({ messages }, { model }) {
    const wire = render(messages, 'gemini')
    return membersOf(SIGNING.test(model) ? withSignatures(wire) : wire)
  },
  placeholder: (text) => `"contents":[{"role":"user","parts":[{"text":"${text}"}]}]`,
  collector: () => new GoogleCollector(),
}

const SIGNING = /gemini-(?:[3-9]|[1-9]\d)/

/**
 * From its third generation on, Gemini refuses a call that is returned without its signature. A
 * call made by another model has none; this is the documented placeholder for it.
 */
function withSignatures(wire: JsonObject): JsonObject {
  const contents = (wire['contents'] ?? []) as readonly JsonObject[]
  return {
    ...wire,
    contents: contents.map((content) => {
      const parts = (content['parts'] ?? []) as readonly JsonObject[]
      const at = parts.findIndex((part) => part['functionCall'] !== undefined)
      const isSigned = parts[at]?.['thoughtSignature'] !== undefined
      if (at === -1 || isSigned || content['role'] !== 'model') return content
      const signed = { ...parts[at], thoughtSignature: 'skip_thought_signature_validator' }
      return { ...content, parts: parts.with(at, signed) }
    }),
  }
}

class GoogleCollector implements Collector {
  size = 0
  readonly #parts: AssistantPart[] = []

  take(event: JsonValue): JsonValue | undefined {
    const [candidate] =
      isObject(event) && Array.isArray(event['candidates']) ? event['candidates'] : []
    const content: JsonValue | undefined = isObject(candidate) ? candidate['content'] : undefined
    const parts = isObject(content) && Array.isArray(content['parts']) ? content['parts'] : []
    let item: JsonValue | undefined
    for (const part of parts as readonly JsonValue[]) {
      if (!isObject(part)) continue
      const before = this.#parts.length
      item = this.#add(part) ?? item
      this.size += keptSize(part) + PART_SIZE * (this.#parts.length - before)
    }
    return item
  }

  message(state: { readonly isWhole: boolean }): AssistantMessage | null {
    return asReply({ role: 'assistant', parts: this.#parts }, state)
  }

  #add(part: JsonObject): JsonValue | undefined {
    const { text, thought, functionCall } = part
    if (typeof text === 'string') {
      if (text === '') return undefined
      const type = thought === true ? 'reasoning' : 'text'
      const last = this.#parts.at(-1)
      if (last?.type === type)
        this.#parts[this.#parts.length - 1] = { type, text: last.text + text }
      else this.#parts.push({ type, text })
      return undefined
    }
    if (isObject(functionCall) && typeof functionCall['name'] === 'string') {
      const { id, name, args = {} } = functionCall
      // Older models give calls no ids, so we make ids that stay unique in a long conversation.
      const own = typeof id === 'string' ? id : `call_${randomUUID().replaceAll('-', '')}`
      const { thoughtSignature } = part
      if (thoughtSignature !== undefined) {
        const sealed = { provider: 'google', value: { thoughtSignature } } as const
        this.#parts.push({ type: 'reasoning', text: '', sealed })
      }
      this.#parts.push({ type: 'tool-call', id: own, name, input: args })
      return undefined
    }
    this.#parts.push({ type: 'opaque', provider: 'google', value: part })
    return part
  }
}
