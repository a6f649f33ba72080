import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { AssistantPart, Part, Provider, ReasoningPart, ResultPart } from '../../message.ts'
import { blobText } from '../blob.ts'
import { opaque, readBare } from '../content.ts'
import {
  hasWord,
  originOf,
  originOfPart,
  ownOrigin,
  type Position,
  textField,
  without,
} from '../origin.ts'
import { parseOr } from '../tool-input.ts'

/** The content blocks of pi's messages. */
const FORMAT = 'pi'

export function readPiPart(value: JsonValue, position: Position): ResultPart {
  if (!isObject(value)) return readBare(value, position)
  const { type, text, data, mimeType: mediaType } = value
  if (type === 'text' && typeof text === 'string') {
    return { type, text, ...originOfPart(FORMAT, position.at, without(value, ['type', 'text'])) }
  }
  if (type === 'image' && typeof data === 'string' && typeof mediaType === 'string') {
    const source = { kind: 'base64', mediaType, data } as const
    const fields = without(value, ['type', 'data', 'mimeType'])
    return { type, source, ...originOfPart(FORMAT, position.at, fields) }
  }
  return opaque('other', value, position)
}

/** pi stores every provider's signature in one field; the message's `api` names the provider. */
export function readPiAssistantPart(
  value: JsonValue,
  position: Position,
  api: string,
): AssistantPart {
  if (!isObject(value)) return readBare(value, position)
  const { type, thinking, arguments: input } = value
  const [id, name] = [textField(value, 'id'), textField(value, 'name')]
  if (type === 'toolCall' && id !== undefined && name !== undefined) {
    const fields = without(value, ['type', 'id', 'name', 'arguments'])
    const origin = originOfPart(FORMAT, position.at, fields, input === undefined && 'no-input')
    return { type: 'tool-call', id, name, input: input === undefined ? {} : input, ...origin }
  }
  if (type === 'thinking' && typeof thinking === 'string') {
    const sealed = readSeal(value, thinking, api)
    const origin = originOf(FORMAT, position.at, without(value, ['type', 'thinking']))
    return { type: 'reasoning', text: thinking, ...(sealed && { sealed }), origin }
  }
  return readPiPart(value, position)
}

function readSeal(block: JsonObject, thinking: string, api: string): ReasoningPart['sealed'] {
  const signature = textField(block, 'thinkingSignature')
  if (signature === undefined || signature === '') return undefined
  const provider = providerOf(api)
  if (provider === 'anthropic') {
    if (block['redacted'] === true) {
      return { provider, value: { type: 'redacted_thinking', data: signature } }
    }
    return { provider, value: { type: 'thinking', thinking, signature } }
  }
  if (provider === 'openai') return { provider, value: parseOr(signature, signature) }
  return { provider, value: { thinking, signature } }
}

function providerOf(api: string): Provider {
  if (api.startsWith('anthropic')) return 'anthropic'
  if (api.includes('responses')) return 'openai'
  return api.startsWith('google') ? 'google' : 'other'
}

/** The `api` to write; signatures of any other provider are dropped. */
export function apiOf(parts: readonly Part[]): string {
  const sealed = parts.find((part) => part.type === 'reasoning' && part.sealed !== undefined)
  switch (sealed?.type === 'reasoning' ? sealed.sealed?.provider : undefined) {
    case 'anthropic':
      return 'anthropic-messages'
    case 'openai':
      return 'openai-responses'
    default:
      return 'unknown'
  }
}

/** Undefined for parts that only another provider understands. */
export function writePiPart(part: Part, api: string): JsonValue | undefined {
  const origin = ownOrigin(part, FORMAT)
  const fields = origin?.fields
  switch (part.type) {
    case 'text':
      return hasWord(origin, 'bare') ? part.text : { type: 'text', text: part.text, ...fields }
    case 'image':
    case 'file': {
      const { source } = part
      if (part.type === 'image' && source.kind === 'base64') {
        return { type: 'image', data: source.data, mimeType: source.mediaType, ...fields }
      }
      return blobText(part)
    }
    case 'reasoning': {
      const { text: thinking, sealed } = part
      if (origin !== undefined || sealed === undefined)
        return { type: 'thinking', thinking, ...fields }
      const seal = providerOf(api) === sealed.provider ? writeSeal(sealed) : undefined
      return seal && { type: 'thinking', thinking, ...seal }
    }
    case 'tool-call': {
      const input = hasWord(origin, 'no-input') ? {} : { arguments: part.input }
      return { type: 'toolCall', id: part.id, name: part.name, ...input, ...fields }
    }
    case 'opaque':
      return origin === undefined ? undefined : part.value
    case 'tool-result':
      return undefined
  }
}

function writeSeal({
  provider,
  value,
}: NonNullable<ReasoningPart['sealed']>): JsonObject | undefined {
  if (provider === 'openai') return { thinkingSignature: JSON.stringify(value) }
  if (!isObject(value)) return undefined
  const { type, signature, data } = value
  if (type === 'redacted_thinking' && typeof data === 'string') {
    return { thinkingSignature: data, redacted: true }
  }
  return typeof signature === 'string' ? { thinkingSignature: signature } : undefined
}
