import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../message.ts'
import { textOf } from '../../text.ts'
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
import type { GeminiCalls } from './calls.ts'

/**
 * The parts of Gemini's contents. A part is an object of one kind (`text`, `functionCall`,
 * `inlineData`), possibly with other fields such as `thoughtSignature`. Fields that our model lacks
 * are kept separately: those beside the kind (`outer`) and those inside it (`inner`).
 */
const FORMAT = 'gemini'

function keep(outer: JsonObject | undefined, inner?: JsonObject): JsonObject | undefined {
  if (outer === undefined && inner === undefined) return undefined
  return { ...(outer && { outer }), ...(inner && { inner }) }
}

function kept(part: Part): { readonly outer: JsonObject; readonly inner: JsonObject } {
  const { outer, inner } = ownOrigin(part, FORMAT)?.fields ?? {}
  return { outer: isObject(outer) ? outer : {}, inner: isObject(inner) ? inner : {} }
}

export function readGeminiPart(
  value: JsonValue,
  position: Position,
  calls: GeminiCalls,
): UserPart | ToolResultPart {
  if (!isObject(value)) return readBare(value, position)
  const { text, functionResponse, inlineData, fileData } = value
  if (typeof text === 'string') {
    const outer = without(value, ['text'])
    return { type: 'text', text, ...originOfPart(FORMAT, position.at, keep(outer)) }
  }
  if (isObject(functionResponse)) return readResponse(value, functionResponse, position, calls)
  if (isObject(inlineData) && typeof inlineData['data'] === 'string') {
    return readInline(value, inlineData, position)
  }
  if (isObject(fileData) && typeof fileData['fileUri'] === 'string') {
    return readFile(value, fileData, position)
  }
  return opaque('google', value, position)
}

export function readGeminiReplyPart(
  value: JsonValue,
  position: Position,
  calls: GeminiCalls,
): AssistantPart {
  const { functionCall } = isObject(value) ? value : {}
  if (isObject(value) && isObject(functionCall) && typeof functionCall['name'] === 'string') {
    return readCall(value, functionCall, position, calls)
  }
  const thought = isObject(value) ? readThought(value, position) : undefined
  if (thought !== undefined) return thought
  const part = readGeminiPart(value, position, calls)
  // Responses occur only in the user role.
  return part.type === 'tool-result' ? opaque('google', value, position) : part
}

/** A thought, or only the signature that closes a reply. */
function readThought(value: JsonObject, { at }: Position): ReasoningPart | undefined {
  const { text, thought, thoughtSignature } = value
  const isMarked = thought === true
  if (typeof text !== 'string' || (!isMarked && (text !== '' || !thoughtSignature)))
    return undefined
  const outer = without(value, isMarked ? ['text', 'thought'] : ['text'])
  const sealed = typeof thoughtSignature === 'string' && {
    sealed: { provider: 'google', value: { thoughtSignature } } as const,
  }
  const origin = originOf(FORMAT, at, keep(outer), !isMarked && 'unmarked')
  return { type: 'reasoning', text, ...sealed, origin }
}

/** The library writes an empty id if there is none; it is written back unchanged. */
function idOf(value: JsonObject): string | undefined {
  return textField(value, 'id') || undefined
}

function knownId(id: string | undefined): readonly string[] {
  return id === undefined ? [] : ['id']
}

function readCall(
  value: JsonObject,
  call: JsonObject,
  { at }: Position,
  calls: GeminiCalls,
): ToolCallPart {
  const id = idOf(call)
  const part: ToolCallPart = {
    type: 'tool-call',
    id: id ?? `gemini_call_${at}_${calls.size}`,
    name: textField(call, 'name') ?? '',
    input: call['args'] ?? {},
    origin: originOf(
      FORMAT,
      at,
      keep(without(value, ['functionCall']), without(call, [...knownId(id), 'name', 'args'])),
      id === undefined && 'no-id',
      call['args'] === undefined && 'no-args',
    ),
  }
  calls.note(part)
  return part
}

/** A response becomes text in our model; a word in the origin restores the object on writing. */
function readResponse(
  value: JsonObject,
  answer: JsonObject,
  { at }: Position,
  calls: GeminiCalls,
): ToolResultPart {
  const [id, name] = [idOf(answer), textField(answer, 'name')]
  const { response } = answer
  const [word, text] = textOfResponse(response)
  return {
    type: 'tool-result',
    callId: id ?? calls.answer(name) ?? `gemini_response_${at}`,
    ...(name !== undefined && { name }),
    output: text === '' ? [] : [{ type: 'text', text }],
    ...(isObject(response) && 'error' in response && { isError: true }),
    origin: originOf(
      FORMAT,
      at,
      keep(
        without(value, ['functionResponse']),
        without(answer, [...knownId(id), 'name', 'response']),
      ),
      word,
      id === undefined && 'no-id',
    ),
  }
}

function textOfResponse(response: JsonValue | undefined): readonly [string, string] {
  if (response === undefined) return ['absent', '']
  if (isObject(response) && Object.keys(response).length === 1) {
    const { output, error } = response
    if (typeof output === 'string' && output !== '') return ['output', output]
    if (typeof error === 'string' && error !== '') return ['error', error]
  }
  return ['json', JSON.stringify(response)]
}

function readInline(value: JsonObject, inline: JsonObject, { at }: Position): ImagePart | FilePart {
  const mediaType = textField(inline, 'mimeType')
  const data = textField(inline, 'data') ?? ''
  const inner = without(inline, ['data', 'mimeType'])
  const outer = without(value, ['inlineData'])
  const origin = originOfPart(FORMAT, at, keep(outer, inner), mediaType === undefined && 'no-type')
  const source = { kind: 'base64', mediaType: mediaType ?? 'image/*', data } as const
  return { type: source.mediaType.startsWith('image/') ? 'image' : 'file', source, ...origin }
}

function readFile(value: JsonObject, file: JsonObject, { at }: Position): ImagePart | FilePart {
  const source = { kind: 'url', url: textField(file, 'fileUri') ?? '' } as const
  const inner = without(file, ['fileUri'])
  const origin = originOfPart(FORMAT, at, keep(without(value, ['fileData']), inner))
  const isImage = textField(file, 'mimeType')?.startsWith('image/') === true
  return { type: isImage ? 'image' : 'file', source, ...origin }
}

/** Undefined for parts that only another provider understands. */
export function writeGeminiPart(part: Part, calls: GeminiCalls): JsonValue | undefined {
  const origin = ownOrigin(part, FORMAT)
  const { outer, inner } = kept(part)
  switch (part.type) {
    case 'text':
      return hasWord(origin, 'bare') ? part.text : { text: part.text, ...outer }
    case 'image':
    case 'file':
      return writeBlob(part)
    case 'reasoning':
      return writeThought(part)
    case 'tool-call': {
      const { id, name, input: args } = part
      return {
        functionCall: {
          ...(!hasWord(origin, 'no-id') && { id }),
          ...{ name, ...(!hasWord(origin, 'no-args') && { args }), ...inner },
        },
        ...outer,
      }
    }
    case 'tool-result':
      return { functionResponse: { ...writeResponse(part, calls), ...inner }, ...outer }
    case 'opaque':
      return origin === undefined ? undefined : part.value
  }
}

function writeThought(part: ReasoningPart): JsonValue | undefined {
  const origin = ownOrigin(part, FORMAT)
  const { text, sealed } = part
  if (origin !== undefined) {
    return { text, ...(!hasWord(origin, 'unmarked') && { thought: true }), ...kept(part).outer }
  }
  if (sealed?.provider !== 'google' || !isObject(sealed.value)) return undefined
  return { text, thought: true, ...sealed.value }
}

function writeBlob(part: ImagePart | FilePart): JsonValue {
  const { source } = part
  const { outer, inner } = kept(part)
  if (source.kind === 'id') return { text: blobText(part).text }
  if (source.kind === 'url') return { fileData: { fileUri: source.url, ...inner }, ...outer }
  const type = !hasWord(ownOrigin(part, FORMAT), 'no-type') && { mimeType: source.mediaType }
  return { inlineData: { ...type, data: source.data, ...inner }, ...outer }
}

function writeResponse(part: ToolResultPart, calls: GeminiCalls): JsonObject {
  const origin = ownOrigin(part, FORMAT)
  const call = calls.find(part.callId)
  const hasId = origin === undefined ? call?.isTheirs === true : !hasWord(origin, 'no-id')
  const name = part.name ?? call?.name
  const text = textOf(part)
  return {
    ...(hasId && { id: part.callId }),
    ...(name !== undefined && { name }),
    ...(!hasWord(origin, 'absent') && { response: responseOf(part, text) }),
  }
}

function responseOf(part: ToolResultPart, text: string): JsonValue {
  const plain = part.isError ? { error: text } : { output: text }
  if (!hasWord(ownOrigin(part, FORMAT), 'json')) return plain
  // A result that was shortened is no longer valid JSON.
  const value = parseOr(text, plain)
  return isObject(value) ? value : plain
}
