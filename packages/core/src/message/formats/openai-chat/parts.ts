import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { BlobSource, Part, ResultPart, ToolCallPart } from '../../message.ts'
import { blobText, canSay, originOfBlob, readUrl, writeUrl } from '../blob.ts'
import { opaque, readBare } from '../content.ts'
import type { CodecName } from '../names.ts'
import {
  hasWord,
  originOfPart,
  type Position,
  sameFamilyOrigin,
  textField,
  without,
} from '../origin.ts'
import { readToolInput, writeToolInput } from '../tool-input.ts'

/** The content parts and tool calls of OpenAI's chat messages, also used by Hermes. */
export function readChatPart(value: JsonValue, position: Position): ResultPart {
  if (!isObject(value)) return readBare(value, position)
  const { format, at } = position
  const { type, text, refusal, image_url: image, file } = value
  if (type === 'text' && typeof text === 'string') {
    return { type, text, ...originOfPart(format, at, without(value, ['type', 'text'])) }
  }
  if (type === 'refusal' && typeof refusal === 'string') {
    const fields = without(value, ['type', 'refusal'])
    return { type: 'text', text: refusal, ...originOfPart(format, at, fields, 'refusal') }
  }
  if (type === 'image_url') {
    const url = isObject(image) ? image['url'] : image
    if (typeof url !== 'string') return opaque('openai', value, position)
    const source = readUrl(url)
    const inner = isObject(image) ? without(image, ['url']) : undefined
    const fields = { ...without(value, ['type', 'image_url']), ...(inner && { image_url: inner }) }
    return {
      type: 'image',
      source,
      ...originOfBlob(source, position, nonEmpty(fields), !isObject(image) && 'flat'),
    }
  }
  if (type === 'file' && isObject(file)) {
    const source = readFile(file)
    if (source === undefined) return opaque('openai', value, position)
    const name = textField(file, 'filename')
    const inner = without(file, ['file_data', 'file_id', name === undefined ? '' : 'filename'])
    const fields = { ...without(value, ['type', 'file']), ...(inner && { file: inner }) }
    const origin = originOfBlob(source, position, nonEmpty(fields))
    return { type: 'file', source, ...(name !== undefined && { name }), ...origin }
  }
  return opaque(type === 'input_audio' ? 'openai' : 'other', value, position)
}

function readFile(file: JsonObject): BlobSource | undefined {
  const { file_data: data, file_id: id } = file
  if (typeof data === 'string' && id === undefined) return readUrl(data)
  if (typeof id === 'string' && data === undefined) return { kind: 'id', id }
  return undefined
}

function nonEmpty(fields: JsonObject): JsonObject | undefined {
  return Object.keys(fields).length === 0 ? undefined : fields
}

/** Undefined for parts that only another provider understands. */
export function writeChatPart(part: Part, format: CodecName): JsonValue | undefined {
  const origin = sameFamilyOrigin(part, format)
  const fields = origin?.fields ?? {}
  switch (part.type) {
    case 'text':
      if (hasWord(origin, 'bare')) return part.text
      if (hasWord(origin, 'refusal')) return { type: 'refusal', refusal: part.text, ...fields }
      return { type: 'text', text: part.text, ...fields }
    case 'image': {
      if (!canSay(part, format)) return blobText(part)
      const url = writeUrl(part.source) ?? ''
      if (hasWord(origin, 'flat')) return { ...fields, type: 'image_url', image_url: url }
      const inner = fields['image_url']
      return { ...fields, type: 'image_url', image_url: { url, ...(isObject(inner) && inner) } }
    }
    case 'file': {
      if (!canSay(part, format)) return blobText(part)
      const inner = fields['file']
      const file = {
        ...(part.source.kind === 'id'
          ? { file_id: part.source.id }
          : { file_data: writeUrl(part.source) ?? '' }),
        ...(part.name !== undefined && { filename: part.name }),
        ...(isObject(inner) && inner),
      }
      return { ...fields, type: 'file', file }
    }
    case 'opaque':
      return origin === undefined ? undefined : part.value
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      return undefined
  }
}

export function readToolCall(value: JsonValue, position: Position): ToolCallPart | undefined {
  if (!isObject(value)) return undefined
  const { format, at } = position
  const isCustom = value['type'] === 'custom'
  const body = isCustom ? value['custom'] : value['function']
  const name = isObject(body) ? textField(body, 'name') : undefined
  if (!isObject(body) || name === undefined) return undefined

  const key = isCustom ? 'input' : 'arguments'
  const text = body[key]
  const inner = without(body, ['name', key])
  const id = textField(value, 'id')
  const known = ['function', 'custom', id === undefined ? '' : 'id']
  // Some servers leave out the type; the original value is written back.
  if (value['type'] === 'function' || isCustom) known.push('type')
  const fields = { ...without(value, known), ...(inner && { inner }) }
  return {
    type: 'tool-call',
    id: id ?? '',
    name,
    ...readCallInput(text, isCustom),
    ...originOfPart(
      format,
      at,
      nonEmpty(fields),
      isCustom && 'custom',
      !known.includes('type') && 'untyped',
      id === undefined && 'no-id',
      inputWord(text),
    ),
  }
}

/** Arguments are JSON text; some servers send the value itself, and custom tools use plain text. */
export function readCallInput(
  text: JsonValue | undefined,
  isCustom = false,
): Pick<ToolCallPart, 'input' | 'inputText'> {
  if (typeof text !== 'string') return { input: text === undefined ? {} : text }
  return isCustom ? { input: text } : readToolInput(text)
}

export function inputWord(text: JsonValue | undefined): string | undefined {
  if (text === undefined) return 'no-input'
  return typeof text === 'string' ? undefined : 'value'
}

export function writeToolCall(call: ToolCallPart, format: CodecName): JsonObject {
  const origin = sameFamilyOrigin(call, format)
  const { inner, ...fields } = origin?.fields ?? {}
  const isCustom = hasWord(origin, 'custom')
  const body = {
    name: call.name,
    ...writeInput(call, format, isCustom),
    ...(isObject(inner) && inner),
  }
  return {
    ...fields,
    ...(!(hasWord(origin, 'no-id') && call.id === '') && { id: call.id }),
    ...(!hasWord(origin, 'untyped') && { type: isCustom ? 'custom' : 'function' }),
    [isCustom ? 'custom' : 'function']: body,
  }
}

export function writeInput(call: ToolCallPart, format: CodecName, isCustom = false): JsonObject {
  const origin = sameFamilyOrigin(call, format)
  if (hasWord(origin, 'no-input')) return {}
  if (isCustom && typeof call.input === 'string') return { input: call.input }
  return { arguments: hasWord(origin, 'value') ? call.input : writeToolInput(call) }
}
