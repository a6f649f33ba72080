import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { ResultPart } from '#core/message/message'
import type { ToolAnswer } from '../tool.ts'
import { cleanText, shortText } from './clean-text.ts'

/** The answer of a server as message parts. A part that a model cannot see is named instead. */
const PARTS_MAX = 200
const IMAGE_CHARACTERS_MAX = 700_000

export function callAnswer(result: JsonObject): ToolAnswer {
  const { content, structuredContent: structured } = result
  const blocks = isArray(content) ? content : []
  const parts = blocks.slice(0, PARTS_MAX).map(blockPart)
  if (parts.length === 0 && isObject(structured)) parts.push(text(structuredText(structured)))
  if (blocks.length > PARTS_MAX) parts.push(text(note(`${blocks.length - PARTS_MAX} more parts`)))
  return { outcome: result['isError'] === true ? 'error' : 'ok', output: outputOf(parts) }
}

export function resourceAnswer(result: JsonObject): ToolAnswer {
  const { contents } = result
  const parts = (isArray(contents) ? contents : []).slice(0, PARTS_MAX).map(contentPart)
  return { outcome: 'ok', output: outputOf(parts) }
}

function structuredText(structured: JsonObject): string {
  try {
    return cleanText(JSON.stringify(structured))
  } catch (error) {
    // The stack overflowed.
    if (!(error instanceof RangeError)) throw error
    return note('structured content that is nested too deep')
  }
}

function outputOf(parts: readonly ResultPart[]): ToolAnswer['output'] {
  if (parts.length === 0) return '(no output)'
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === parts.length ? texts.join('\n') : parts
}

function blockPart(block: JsonValue): ResultPart {
  if (!isObject(block)) return text(note('a part of no known kind'))
  switch (block['type']) {
    case 'text':
      return text(cleanText(stringIn(block, 'text')))
    case 'image':
      return imagePart(stringIn(block, 'mimeType'), stringIn(block, 'data'))
    case 'resource':
      return contentPart(block['resource'] ?? null)
    case 'resource_link':
      return text(note(`resource ${shortText(stringIn(block, 'uri'), 2_000)}`))
    default:
      return text(note(`a part of the kind ${shortText(stringIn(block, 'type'), 40)}`))
  }
}

function contentPart(content: JsonValue): ResultPart {
  if (!isObject(content)) return text(note('a resource of no known kind'))
  if (typeof content['text'] === 'string') return text(cleanText(content['text']))
  const mediaType = stringIn(content, 'mimeType')
  const blob = stringIn(content, 'blob')
  return mediaType.startsWith('image/') ? imagePart(mediaType, blob) : text(binary(mediaType, blob))
}

const BEGINNINGS: { readonly [mediaType: string]: string } = {
  'image/png': '89504e47',
  'image/jpeg': 'ffd8ff',
  'image/gif': '47494638',
  'image/webp': '52494646',
}

/** With an invalid image, the provider would refuse every later request of the session. */
function imagePart(mediaType: string, data: string): ResultPart {
  const beginning = BEGINNINGS[mediaType]
  const bytes = Buffer.from(data.slice(0, IMAGE_CHARACTERS_MAX + 1), 'base64')
  const isImage = beginning !== undefined && bytes.toString('hex', 0, 4).startsWith(beginning)
  if (!isImage || data.length > IMAGE_CHARACTERS_MAX) return text(binary(mediaType, data))
  return { type: 'image', source: { kind: 'base64', mediaType, data: bytes.toString('base64') } }
}

function binary(mediaType: string, data: string): string {
  return note(`${Math.floor(data.length * 0.75)} bytes of ${shortText(mediaType, 60) || 'data'}`)
}

function note(what: string): string {
  return `[not shown: ${what}]`
}

function text(words: string): ResultPart {
  return { type: 'text', text: words }
}

function stringIn(object: JsonObject, key: string): string {
  const value = object[key]
  return typeof value === 'string' ? value : ''
}
