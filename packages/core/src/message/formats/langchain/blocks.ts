import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { BlobSource, FilePart, ImagePart, Part, ResultPart } from '../../message.ts'
import { originOfBlob } from '../blob.ts'
import { readChatPart, writeChatPart } from '../openai-chat/parts.ts'
import { hasWord, ownOrigin, type Position, textField, without } from '../origin.ts'

/**
 * The content blocks of LangChain's messages. Text and images may be written as OpenAI does; media may
 * also be blocks of their own, with `mime_type` and, since version 1, `mimeType`. Blocks of single
 * providers, such as thinking and tool calls, are kept as they are.
 */
const FORMAT = 'langchain'

export function readLangchainBlock(value: JsonValue, position: Position): ResultPart {
  return (isObject(value) ? readMedia(value, position) : undefined) ?? readChatPart(value, position)
}

function readMedia(block: JsonObject, position: Position): ImagePart | FilePart | undefined {
  const type = textField(block, 'type') ?? ''
  if (!['image', 'audio', 'video', 'file'].includes(type)) return undefined
  const [data, url] = [textField(block, 'data'), textField(block, 'url')]
  const typeKey = 'mime_type' in block ? 'mime_type' : 'mimeType'
  const mediaType = textField(block, typeKey)
  let source: BlobSource | undefined
  if (data !== undefined && mediaType !== undefined) source = { kind: 'base64', mediaType, data }
  else if (data === undefined && url !== undefined) source = { kind: 'url', url }
  if (source === undefined) return undefined
  const known = source.kind === 'url' ? ['url'] : ['data', typeKey]
  const words = ['block', source.kind === 'base64' && typeKey] as const
  // The type stays among the fields: a file may be audio, or a video.
  const origin = originOfBlob(source, position, without(block, known), ...words)
  return { type: type === 'image' ? 'image' : 'file', source, ...origin }
}

/** Undefined for parts that only another provider understands. */
export function writeLangchainBlock(part: Part): JsonValue | undefined {
  const origin = ownOrigin(part, FORMAT)
  if ((part.type === 'image' || part.type === 'file') && hasWord(origin, 'block')) {
    const { source } = part
    if (source.kind === 'url') return { ...origin?.fields, url: source.url }
    if (source.kind === 'base64') {
      const typeKey = hasWord(origin, 'mime_type') ? 'mime_type' : 'mimeType'
      return { ...origin?.fields, data: source.data, [typeKey]: source.mediaType }
    }
  }
  return writeChatPart(part, FORMAT)
}
