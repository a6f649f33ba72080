import { isObject, type JsonValue } from '../../base/json.ts'
import type { Dialect } from '../dialect.ts'
import type { FormatName } from '../formats/names.ts'
import { sameFamilyOrigin } from '../formats/origin.ts'
import type {
  AssistantMessage,
  AssistantPart,
  FilePart,
  ImagePart,
  Message,
  OpaquePart,
  Part,
  ReasoningPart,
  ResultPart,
  SystemMessage,
  TextPart,
  ToolResultPart,
  UserMessage,
  UserPart,
} from '../message.ts'
import { isSame, withParts } from '../same.ts'
import { textOf } from '../text.ts'
import { sendableBlob } from './blobs.ts'
import { isBlank } from './findings.ts'

/**
 * Which parts a dialect accepts in which role, and what happens to the others. An item of another
 * provider becomes a marker in a user or tool message and is dropped from a reply; images in a
 * position where they are not allowed become markers or move.
 */

/** The format that writes a dialect's parts; this file writes the other two from plain parts. */
const FORMATS: { readonly [dialect in Dialect]?: FormatName } = {
  'openai-chat': 'openai-chat',
  'openai-responses': 'openai-responses',
  anthropic: 'anthropic',
}

export function systemParts(message: SystemMessage, dialect: Dialect): SystemMessage | undefined {
  return spoken(message, dialect, (part): TextPart => (part.type === 'text' ? part : marker(part)))
}

export function userParts(message: UserMessage, dialect: Dialect): UserMessage | undefined {
  return spoken(message, dialect, (part): UserPart => {
    if (part.type === 'text') return part
    if (part.type === 'opaque') return isForUser(part, dialect) ? part : marker(part)
    return dialect === 'strict' ? marker(part) : sendableBlob(part, dialect)
  })
}

export function assistantParts(
  message: AssistantMessage,
  dialect: Dialect,
): AssistantMessage | undefined {
  const kept = keepParts(message, (part) => {
    if (part.type === 'reasoning') return isOwnReasoning(part, dialect)
    return part.type !== 'opaque' || isForAssistant(part, dialect)
  })
  return spoken(kept, dialect, (part): AssistantPart => {
    const isBlob = part.type === 'image' || part.type === 'file'
    // Only Gemini's models reply with images.
    if (isBlob) return dialect === 'gemini' ? sendableBlob(part, dialect) : marker(part)
    return part.type === 'tool-call' ? withObjectInput(part, dialect) : part
  })
}

/** The result in the dialect's form, and the images and files to show after the results instead. */
export function resultParts(
  result: ToolResultPart,
  dialect: Dialect,
): { readonly result: ToolResultPart; readonly moved: readonly (ImagePart | FilePart)[] } {
  const moved: (ImagePart | FilePart)[] = []
  // Anthropic refuses the result of a failed call if it is empty or contains anything but text.
  const isAnthropicError = dialect === 'anthropic' && result.isError === true
  const isTextOnly = dialect === 'openai-chat' || dialect === 'gemini' || isAnthropicError
  const sendable = result.output.map((part): ResultPart => {
    if (part.type === 'text') return part
    if (part.type === 'opaque') {
      return isForResult(part, dialect) && !isTextOnly ? part : marker(part)
    }
    if (dialect === 'strict') return marker(part)
    const blob = sendableBlob(part, dialect)
    if (blob.type === 'text' || !isTextOnly) return blob
    moved.push(blob)
    return { type: 'text', text: `${textOf(part)} (shown behind the results)` }
  })
  // Anthropic refuses blank texts, in results too.
  const output =
    dialect === 'anthropic'
      ? sendable.filter((part) => part.type !== 'text' || part.text.trim() !== '')
      : sendable
  if (isAnthropicError && output.length === 0) output.push({ type: 'text', text: '(no output)' })
  return { result: isSame(output, result.output) ? result : { ...result, output }, moved }
}

/** The message with the parts that pass; the same object if all do. */
export function keepParts<M extends AssistantMessage>(
  message: M,
  passes: (part: AssistantPart) => boolean,
): M {
  return withParts(message, message.parts.filter(passes))
}

/** Maps the parts and drops blank text; undefined if nothing else is left. */
function spoken<M extends Exclude<Message, { role: 'handoff' | 'tool' }>>(
  message: M,
  dialect: Dialect,
  map: (part: M['parts'][number]) => M['parts'][number],
): M | undefined {
  const mapped = message.parts.map(map)
  // Chat servers accept a blank text beside other parts, and many replies with calls have one.
  const parts =
    dialect === 'openai-chat'
      ? mapped
      : mapped.filter((part) => part.type !== 'text' || !isBlank(part.text))
  const saysSomething = parts.some((part) => {
    if (part.type === 'text') return !isBlank(part.text)
    // Reasoning alone is not a reply here; elsewhere it may belong to the next message.
    return part.type !== 'reasoning' || (dialect !== 'openai-chat' && dialect !== 'gemini')
  })
  if (!saysSomething) return undefined
  return withParts(message, parts)
}

/** The substitute for a part that cannot be sent: the item itself if it is short enough to read. */
function marker(part: Part): TextPart {
  const json = part.type === 'opaque' && isObject(part.value) ? JSON.stringify(part.value) : ''
  const isReadable = json !== '' && json.length <= MARKER_LENGTH_MAX
  return { type: 'text', text: isReadable ? json : textOf(part) }
}

const MARKER_LENGTH_MAX = 2000

function isOwnReasoning({ sealed, origin }: ReasoningPart, dialect: Dialect): boolean {
  switch (dialect) {
    case 'openai-chat':
      // Servers that send reasoning in a separate field want it back there.
      return sealed === undefined && origin !== undefined && isKindred({ origin }, dialect)
    case 'openai-responses':
      return sealed?.provider === 'openai'
    case 'anthropic':
      return sealed?.provider === 'anthropic' && isSigned(sealed.value)
    case 'gemini':
      return sealed?.provider === 'google'
    default:
      return false
  }
}

function isSigned(value: JsonValue): boolean {
  if (!isObject(value)) return false
  const { type, thinking, signature, data } = value
  if (type === 'redacted_thinking') return typeof data === 'string' && data !== ''
  return (
    type === 'thinking' &&
    typeof thinking === 'string' &&
    typeof signature === 'string' &&
    signature !== ''
  )
}

/** Block types that our model reads: an opaque part of such a type is broken. */
const READ_BLOCKS = new Set(['text', 'tool_use', 'tool_result', 'thinking', 'redacted_thinking'])
const CHAT_TYPES = new Set(['image_url', 'input_audio', 'file'])
const RESPONSES_TYPES = new Set(['input_image', 'input_file', 'input_audio'])

function isForUser(part: OpaquePart, dialect: Dialect): boolean {
  const type = typeOf(part)
  switch (dialect) {
    case 'openai-chat':
      return isKindred(part, dialect) && CHAT_TYPES.has(type)
    case 'openai-responses':
      return isKindred(part, dialect) && RESPONSES_TYPES.has(type)
    case 'anthropic':
      return isAnthropicBlock(part) && !READ_BLOCKS.has(type) && type !== 'server_tool_use'
    case 'gemini':
      return isGeminiPart(part)
    case 'strict':
      return false
  }
}

function isForAssistant(part: OpaquePart, dialect: Dialect): boolean {
  switch (dialect) {
    // openai-items.ts decides which items go back to OpenAI; it needs the whole conversation.
    case 'openai-responses':
      return true
    case 'anthropic': {
      const type = typeOf(part)
      return (
        isAnthropicBlock(part) && !READ_BLOCKS.has(type) && type !== 'image' && type !== 'document'
      )
    }
    case 'gemini':
      return isGeminiPart(part)
    default:
      return false
  }
}

function isForResult(part: OpaquePart, dialect: Dialect): boolean {
  if (typeOf(part) === '') return false
  if (dialect === 'anthropic') return isAnthropicBlock(part)
  return dialect === 'openai-responses' && isKindred(part, dialect)
}

function isAnthropicBlock(part: OpaquePart): boolean {
  return typeOf(part) !== '' && (part.provider === 'anthropic' || isKindred(part, 'anthropic'))
}

/** Only parts read from Gemini's own JSON; other formats write such items differently. */
function isGeminiPart({ provider, origin, value }: OpaquePart): boolean {
  if (provider !== 'google' || !isObject(value)) return false
  if (origin !== undefined) return origin.format === 'gemini'
  const keys = Object.keys(value)
  return keys.length > 0 && !keys.some((key) => key === 'text' || key.startsWith('function'))
}

function isKindred(part: Pick<Part, 'origin'>, dialect: Dialect): boolean {
  const format = FORMATS[dialect]
  return format !== undefined && sameFamilyOrigin(part, format) !== undefined
}

function typeOf({ value }: OpaquePart): string {
  const type = isObject(value) ? value['type'] : undefined
  return typeof type === 'string' ? type : ''
}

/** Anthropic and Gemini accept arguments only as an object. */
function withObjectInput(call: Extract<AssistantPart, { type: 'tool-call' }>, dialect: Dialect) {
  const isTaken = isObject(call.input) || (dialect !== 'anthropic' && dialect !== 'gemini')
  if (isTaken) return call
  const { inputText: _, ...rest } = call
  return { ...rest, input: { input: call.input } }
}
