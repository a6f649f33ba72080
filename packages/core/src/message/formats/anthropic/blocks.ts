import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type {
  AssistantPart,
  BlobSource,
  OpaquePart,
  Part,
  ResultPart,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../message.ts'
import { blobText, canSay, originOfBlob } from '../blob.ts'
import { opaque, readBare, readContent, spellingOf, writeContent } from '../content.ts'
import type { CodecName } from '../names.ts'
import {
  hasWord,
  originOf,
  originOfPart,
  type Position,
  sameFamilyOrigin,
  textField,
  without,
} from '../origin.ts'

/** Anthropic's content blocks, used by its API and by Claude Code's files. */

export function readUserBlock(block: JsonValue, position: Position): UserPart | ToolResultPart {
  if (!isObject(block)) return readBare(block, position)
  const { format, at } = position
  const callId = textField(block, 'tool_use_id')
  if (block['type'] === 'tool_result' && callId !== undefined) {
    const { parts, spelling } = readContent(block['content'], position, (inner) =>
      readSharedBlock(inner, position),
    )
    const name = textField(block, 'name')
    const isError = block['is_error'] === true
    const known = ['type', 'tool_use_id', 'content', name === undefined ? '' : 'name']
    const fields = without(block, isError ? [...known, 'is_error'] : known)
    return {
      type: 'tool-result',
      callId,
      ...(name !== undefined && { name }),
      output: parts,
      ...(isError && { isError }),
      ...originOfPart(format, at, fields, spelling, name !== undefined && 'named'),
    }
  }
  return readSharedBlock(block, position)
}

export function readAssistantBlock(block: JsonValue, position: Position): AssistantPart {
  if (!isObject(block)) return readBare(block, position)
  const { format, at } = position
  const [id, name] = [textField(block, 'id'), textField(block, 'name')]
  const thinking = textField(block, 'thinking')
  if (block['type'] === 'tool_use' && id !== undefined && name !== undefined) {
    const fields = without(block, ['type', 'id', 'name', 'input'])
    const { input } = block
    const origin = originOfPart(format, at, fields, input === undefined && 'no-input')
    return { type: 'tool-call', id, name, input: input ?? (input === null ? null : {}), ...origin }
  }
  if (block['type'] === 'thinking' && thinking !== undefined) {
    if (typeof block['signature'] !== 'string') {
      const origin = originOf(format, at, without(block, ['type', 'thinking']))
      return { type: 'reasoning', text: thinking, origin }
    }
    return { type: 'reasoning', text: thinking, sealed: { provider: 'anthropic', value: block } }
  }
  if (block['type'] === 'redacted_thinking') {
    return { type: 'reasoning', text: '', sealed: { provider: 'anthropic', value: block } }
  }
  return readSharedBlock(block, position)
}

/** Text, images, documents and unknown blocks, which are allowed in any role. */
function readSharedBlock(block: JsonValue, position: Position): ResultPart {
  if (!isObject(block)) return readBare(block, position)
  const { format, at } = position
  const { type, text, title } = block
  if (type === 'text' && typeof text === 'string') {
    return { type, text, ...originOfPart(format, at, without(block, ['type', 'text'])) }
  }
  const source = readSource(block['source'])
  if (source !== undefined && type === 'image') {
    return { type, source, ...originOfBlob(source, position, without(block, ['type', 'source'])) }
  }
  if (source !== undefined && type === 'document') {
    const name = typeof title === 'string' ? { name: title } : {}
    const known = typeof title === 'string' ? ['type', 'source', 'title'] : ['type', 'source']
    return {
      type: 'file',
      source,
      ...name,
      ...originOfBlob(source, position, without(block, known)),
    }
  }
  return opaque(isAnthropicType(type) ? 'anthropic' : 'other', block, position)
}

const ANTHROPIC_TYPES =
  /^(?:compaction|document|image|search_result|tool_reference|container_upload|tool_(?:use|result)|server_tool_use|mcp_tool_use|[a-z_]{1,60}_tool_result)$/

function isAnthropicType(type: JsonValue | undefined): boolean {
  return typeof type === 'string' && ANTHROPIC_TYPES.test(type)
}

/** Only sources that can be written back exactly; extra fields make the block opaque. */
function readSource(source: JsonValue | undefined): BlobSource | undefined {
  if (!isObject(source)) return undefined
  const { type, media_type: mediaType, data, url, file_id: id } = source
  const size = Object.keys(source).length
  if (type === 'base64' && typeof mediaType === 'string' && typeof data === 'string') {
    return size === 3 ? { kind: 'base64', mediaType, data } : undefined
  }
  if (type === 'url' && typeof url === 'string' && size === 2) return { kind: 'url', url }
  if (type === 'file' && typeof id === 'string' && size === 2) return { kind: 'id', id }
  return undefined
}

function writeSource(source: BlobSource): JsonObject {
  switch (source.kind) {
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data }
    case 'url':
      return { type: 'url', url: source.url }
    case 'id':
      return { type: 'file', file_id: source.id }
  }
}

/** Undefined for parts that only another provider understands. */
export function writeBlock(part: Part, format: CodecName): JsonValue | undefined {
  const origin = sameFamilyOrigin(part, format)
  const fields = origin?.fields
  switch (part.type) {
    case 'text':
      return hasWord(origin, 'bare') ? part.text : { type: 'text', text: part.text, ...fields }
    case 'image':
    case 'file':
      return canSay(part, format) ? writeBlob(part, format) : blobText(part)
    case 'reasoning':
      if (part.sealed !== undefined) {
        return part.sealed.provider === 'anthropic' ? part.sealed.value : undefined
      }
      // The API refuses thinking without a signature, so it is written only to where it came from.
      return origin === undefined ? undefined : { type: 'thinking', thinking: part.text, ...fields }
    case 'tool-call':
      return {
        type: 'tool_use',
        id: part.id,
        name: part.name,
        ...(!hasWord(origin, 'no-input') && { input: part.input }),
        ...fields,
      }
    case 'tool-result':
      return writeResult(part, format)
    case 'opaque':
      return origin !== undefined || part.provider === 'anthropic' ? part.value : undefined
  }
}

function writeBlob(part: Extract<Part, { type: 'image' | 'file' }>, format: CodecName) {
  const origin = sameFamilyOrigin(part, format)
  const source = writeSource(part.source)
  if (part.type === 'image') return { type: 'image', source, ...origin?.fields }
  const title = part.name === undefined ? {} : { title: part.name }
  return { type: 'document', source, ...title, ...origin?.fields }
}

function writeResult(part: ToolResultPart, format: CodecName): JsonObject {
  const origin = sameFamilyOrigin(part, format)
  const content = writeContent(part.output, spellingOf(origin, 'string'), format, (inner) =>
    writeBlock(inner, format),
  )
  return {
    ...origin?.fields,
    type: 'tool_result',
    tool_use_id: part.callId,
    ...(hasWord(origin, 'named') && part.name !== undefined && { name: part.name }),
    ...(content !== undefined && { content }),
    ...(part.isError && { is_error: true }),
  }
}

/** The blocks of a system prompt. */
export function readSystemBlock(block: JsonValue, position: Position): TextPart | OpaquePart {
  const part = readSharedBlock(block, position)
  return part.type === 'text' || part.type === 'opaque'
    ? part
    : opaque('anthropic', block, position)
}
