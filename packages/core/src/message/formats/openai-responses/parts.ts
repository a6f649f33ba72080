import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { BlobSource, OpaquePart, Part, ReasoningPart, ResultPart } from '../../message.ts'
import { blobText, canSay, originOfBlob, readUrl, writeUrl } from '../blob.ts'
import { opaque, readBare } from '../content.ts'
import type { CodecName } from '../names.ts'
import {
  asList,
  hasWord,
  originOf,
  originOfPart,
  type Position,
  sameFamilyOrigin,
  textField,
  without,
} from '../origin.ts'

/** The content parts of OpenAI's Responses items, also used by Codex. */
export function readResponsesPart(value: JsonValue, position: Position): ResultPart {
  if (!isObject(value)) return readBare(value, position)
  const { format, at } = position
  const { type, text, refusal } = value
  if (TEXT_TYPES.some((name) => name === type) && typeof text === 'string') {
    const fields = without(value, ['type', 'text'])
    return { type: 'text', text, ...originOfPart(format, at, fields, type as string) }
  }
  if (type === 'refusal' && typeof refusal === 'string') {
    const fields = without(value, ['type', 'refusal'])
    return { type: 'text', text: refusal, ...originOfPart(format, at, fields, 'refusal') }
  }
  if (type === 'input_image') {
    const source = readSource(value, 'image_url')
    if (source === undefined) return opaque('openai', value, position)
    const fields = without(value, ['type', 'image_url', 'file_id'])
    return { type: 'image', source, ...originOfBlob(source, position, fields) }
  }
  if (type === 'input_file') {
    const key = typeof value['file_data'] === 'string' ? 'file_data' : 'file_url'
    const source = readSource(value, key)
    if (source === undefined) return opaque('openai', value, position)
    const name = textField(value, 'filename')
    const known = ['type', key, 'file_id', name === undefined ? '' : 'filename']
    return {
      type: 'file',
      source,
      ...(name !== undefined && { name }),
      ...originOfBlob(source, position, without(value, known), key),
    }
  }
  return opaque('openai', value, position)
}

const FILE_KEYS = ['file_data', 'file_url'] as const
const TEXT_TYPES = ['input_text', 'output_text', 'text'] as const

/** A URL or an id; a part with both or neither is left opaque. */
function readSource(part: JsonObject, key: string): BlobSource | undefined {
  const { [key]: url, file_id: id } = part
  if (typeof url === 'string' && id === undefined) return readUrl(url)
  if (typeof id === 'string' && url === undefined) return { kind: 'id', id }
  return undefined
}

/** Undefined for parts that only another provider understands. */
export function writeResponsesPart(
  part: Part,
  format: CodecName,
  speaker: 'input' | 'output',
): JsonValue | undefined {
  const origin = sameFamilyOrigin(part, format)
  const fields = origin?.fields
  switch (part.type) {
    case 'text': {
      if (hasWord(origin, 'bare')) return part.text
      if (hasWord(origin, 'refusal')) return { type: 'refusal', refusal: part.text, ...fields }
      const type = TEXT_TYPES.find((word) => hasWord(origin, word)) ?? `${speaker}_text`
      return { type, text: part.text, ...fields }
    }
    case 'image': {
      if (!canSay(part, format)) return { type: `${speaker}_text`, text: blobText(part).text }
      return { type: 'input_image', ...writeSource(part.source, 'image_url'), ...fields }
    }
    case 'file': {
      if (!canSay(part, format)) return { type: `${speaker}_text`, text: blobText(part).text }
      const usual = part.source.kind === 'base64' ? 'file_data' : 'file_url'
      const key = FILE_KEYS.find((word) => hasWord(origin, word)) ?? usual
      return {
        type: 'input_file',
        ...writeSource(part.source, key),
        ...(part.name !== undefined && { filename: part.name }),
        ...fields,
      }
    }
    case 'opaque':
      return origin === undefined ? undefined : part.value
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      return undefined
  }
}

function writeSource(source: BlobSource, key: string): JsonObject {
  return source.kind === 'id' ? { file_id: source.id } : { [key]: writeUrl(source) ?? '' }
}

/** The whole item is kept as `sealed`; its summary is the readable text. */
export function readReasoning(item: JsonObject, { format, at }: Position): ReasoningPart {
  const texts = [...asList(item['summary']), ...asList(item['content'])].flatMap((entry) =>
    isObject(entry) && typeof entry['text'] === 'string' ? [entry['text']] : [],
  )
  const sealed = { provider: 'openai', value: item } as const
  return { type: 'reasoning', text: texts.join('\n'), sealed, origin: originOf(format, at) }
}

/** Items that we do not read (compactions, searches, references) become one opaque part each. */
export function readOpaqueItem(item: JsonValue, position: Position): OpaquePart {
  return opaque('openai', item, position, 'item')
}

/** Without an origin, an OpenAI part counts as a whole item; opaque chat parts do not. */
export function isOpaqueItem(part: Part, format: CodecName): part is OpaquePart {
  if (part.type !== 'opaque' || part.provider !== 'openai') return false
  return part.origin === undefined || hasWord(sameFamilyOrigin(part, format), 'item')
}
