import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type {
  AssistantPart,
  BlobSource,
  FilePart,
  ImagePart,
  Part,
  UserPart,
} from '../../message.ts'
import { blobText, canSay, originOfBlob, readUrl, writeUrl } from '../blob.ts'
import { opaque, readBare } from '../content.ts'
import { hasWord, originOf, originOfPart, ownOrigin, textField, without } from '../origin.ts'

/** The parts of the AI SDK's model messages, versions 4 to 7. */
const FORMAT = 'ai-sdk'

export function readAiPart(value: JsonValue, at: number): UserPart {
  const position = { format: FORMAT, at } as const
  if (!isObject(value)) return readBare(value, position)
  const { type, text, image, data } = value
  if (type === 'text' && typeof text === 'string') {
    return { type, text, ...originOfPart(FORMAT, at, without(value, ['type', 'text'])) }
  }
  if (type === 'image' && typeof image === 'string') return readBlob(value, image, at)
  if (type === 'file' && typeof data === 'string' && typeof value['mediaType'] === 'string') {
    return readBlob(value, data, at)
  }
  return opaque('other', value, position)
}

/** A URL, or base64 bytes with a separate media type. */
function readBlob(value: JsonObject, data: string, at: number): ImagePart | FilePart {
  const isImageType = value['type'] === 'image'
  const mediaType = textField(value, 'mediaType')
  const isAddress = /^(?:https?|data):/.test(data)
  const source: BlobSource = isAddress
    ? readUrl(data)
    : { kind: 'base64', mediaType: mediaType ?? 'image/*', data }
  const name = isImageType ? undefined : textField(value, 'filename')
  const known = ['type', isImageType ? 'image' : 'data']
  if (!isAddress && mediaType !== undefined) known.push('mediaType')
  if (name !== undefined) known.push('filename')
  const isImage = isImageType || (mediaType?.startsWith('image/') && name === undefined)
  const origin = originOfBlob(
    source,
    { format: FORMAT, at },
    without(value, known),
    isAddress && source.kind === 'base64' && 'address',
    !isAddress && mediaType === undefined && 'no-type',
    isImage === true && !isImageType && 'as-file',
  )
  if (isImage) return { type: 'image', source, ...origin }
  return { type: 'file', source, ...(name !== undefined && { name }), ...origin }
}

export function readAiAssistantPart(value: JsonValue, at: number): AssistantPart {
  if (!isObject(value)) return readAiPart(value, at)
  const { type, text } = value
  const [id, name] = [textField(value, 'toolCallId'), textField(value, 'toolName')]
  // The provider answers its own calls inside the reply, so these are not paired.
  const isOurs = value['providerExecuted'] !== true
  if (type === 'tool-call' && id !== undefined && name !== undefined && isOurs) {
    const key = 'input' in value || !('args' in value) ? 'input' : 'args'
    const { [key]: input } = value
    const fields = without(value, ['type', 'toolCallId', 'toolName', key])
    const origin = originOfPart(
      FORMAT,
      at,
      fields,
      key === 'args' && key,
      input === undefined && 'no-input',
    )
    return { type, id, name, input: input === undefined ? {} : input, ...origin }
  }
  if (type === 'reasoning' && typeof text === 'string') {
    const sealed = readSeal(text, value['providerOptions'])
    const origin = originOf(FORMAT, at, without(value, ['type', 'text']))
    return { type, text, ...(sealed && { sealed }), origin }
  }
  return readAiPart(value, at)
}

type Seal = { readonly provider: 'anthropic' | 'openai' | 'google'; readonly value: JsonValue }

/** The provider's own item, rebuilt from the options in which the SDK stores its signature. */
function readSeal(text: string, options: JsonValue | undefined): Seal | undefined {
  const { anthropic, openai, google } = isObject(options) ? options : {}
  if (isObject(anthropic) && typeof anthropic['signature'] === 'string') {
    const { signature } = anthropic
    return { provider: 'anthropic', value: { type: 'thinking', thinking: text, signature } }
  }
  if (isObject(anthropic) && typeof anthropic['redactedData'] === 'string') {
    const { redactedData: data } = anthropic
    return { provider: 'anthropic', value: { type: 'redacted_thinking', data } }
  }
  if (isObject(openai) && typeof openai['itemId'] === 'string') {
    const { itemId: id, reasoningEncryptedContent: sealed } = openai
    const summary = text === '' ? [] : [{ type: 'summary_text', text }]
    const encrypted = typeof sealed === 'string' ? { encrypted_content: sealed } : {}
    return { provider: 'openai', value: { type: 'reasoning', id, summary, ...encrypted } }
  }
  return isObject(google) ? { provider: 'google', value: google } : undefined
}

function writeSeal({
  provider,
  value,
}: {
  provider: string
  value: JsonValue
}): JsonObject | undefined {
  if (!isObject(value)) return undefined
  const { type, signature, data, id, encrypted_content: encrypted } = value
  if (provider === 'anthropic' && type === 'thinking' && signature !== undefined) {
    return { anthropic: { signature } }
  }
  if (provider === 'anthropic' && type === 'redacted_thinking' && data !== undefined) {
    return { anthropic: { redactedData: data } }
  }
  if (provider === 'openai' && id !== undefined) {
    const sealed = encrypted === undefined ? {} : { reasoningEncryptedContent: encrypted }
    return { openai: { itemId: id, ...sealed } }
  }
  return provider === 'google' ? { google: value } : undefined
}

/** Undefined for parts that only another provider understands. */
export function writeAiPart(part: Part): JsonValue | undefined {
  const origin = ownOrigin(part, FORMAT)
  const fields = origin?.fields
  switch (part.type) {
    case 'text':
      return hasWord(origin, 'bare') ? part.text : { type: 'text', text: part.text, ...fields }
    case 'image':
    case 'file':
      return canSay(part, FORMAT) ? writeBlob(part) : blobText(part)
    case 'reasoning': {
      const { text, sealed } = part
      if (origin !== undefined || sealed === undefined)
        return { type: 'reasoning', text, ...fields }
      const providerOptions = writeSeal(sealed)
      return providerOptions && { type: 'reasoning', text, providerOptions }
    }
    case 'tool-call': {
      const key = hasWord(origin, 'args') ? 'args' : 'input'
      const input = hasWord(origin, 'no-input') ? {} : { [key]: part.input }
      return { type: 'tool-call', toolCallId: part.id, toolName: part.name, ...input, ...fields }
    }
    case 'opaque':
      return origin === undefined ? undefined : part.value
    case 'tool-result':
      return undefined
  }
}

function writeBlob(part: ImagePart | FilePart): JsonValue {
  const origin = ownOrigin(part, FORMAT)
  const { source } = part
  const isRaw = source.kind === 'base64' && !hasWord(origin, 'address')
  const data = isRaw ? source.data : (writeUrl(source) ?? '')
  const mediaType = source.kind === 'base64' ? source.mediaType : 'application/octet-stream'
  const isTyped = isRaw ? !hasWord(origin, 'no-type') : origin === undefined
  if (part.type === 'image' && !hasWord(origin, 'as-file')) {
    return { type: 'image', image: data, ...(isRaw && isTyped && { mediaType }), ...origin?.fields }
  }
  const name = part.type === 'file' ? part.name : undefined
  return {
    type: 'file',
    data,
    ...(isTyped && { mediaType }),
    ...(name !== undefined && { filename: name }),
    ...origin?.fields,
  }
}
