import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type {
  BlobSource,
  Message,
  OpaquePart,
  Part,
  ReasoningPart,
  ToolResultPart,
} from '../message.ts'
import { textOf } from '../text.ts'
import { checkGemini } from './check/check-gemini.ts'
import type { ProviderDialect } from './provider-dialect.ts'
import { GEMINI_NAME } from './rules.ts'

export const geminiDialect: ProviderDialect = {
  name: 'gemini',
  write: formatGemini,
  check: checkGemini,
  accepts: {
    toolName: GEMINI_NAME,
    takesTurns: true,
    reasoning: ({ sealed }) => sealed?.provider === 'google',
    fromUser: isOwnPart,
    fromAssistant: isOwnPart,
    objectInput: true,
    blobInReply: true,
    textResults: true,
    hears: true,
  },
}

/** Only parts read from Gemini's own JSON; other formats write such items differently. */
function isOwnPart({ provider, origin, value }: OpaquePart): boolean {
  if (provider !== 'google' || !isObject(value)) return false
  if (origin !== undefined) return origin.format === 'gemini'
  const keys = Object.keys(value)
  return keys.length > 0 && !keys.some((key) => key === 'text' || key.startsWith('function'))
}

/** Gemini's `generateContent`. Its calls have no ids: responses follow the order of the calls. */
function formatGemini(messages: readonly Message[]): JsonObject {
  const system: JsonValue[] = []
  const contents: JsonValue[] = []
  let calls = new Map<string, { readonly name: string; readonly order: number }>()
  for (const message of messages) {
    switch (message.role) {
      case 'system':
        system.push(...message.parts.flatMap(writePart))
        break
      case 'user':
        contents.push({ role: 'user', parts: message.parts.flatMap(writePart) })
        break
      case 'assistant': {
        contents.push({ role: 'model', parts: writeReply(message.parts) })
        const made = message.parts.filter((part) => part.type === 'tool-call')
        calls = new Map(made.map(({ id, name }, order) => [id, { name, order }]))
        break
      }
      case 'tool': {
        const order = (part: ToolResultPart) => calls.get(part.callId)?.order ?? 0
        const results = message.parts.toSorted((a, b) => order(a) - order(b))
        const parts = results.map((part) => writeResult(part, calls.get(part.callId)?.name ?? ''))
        contents.push({ role: 'user', parts })
      }
    }
  }
  return { ...(system.length > 0 && { systemInstruction: { parts: system } }), contents }
}

/** The signature of a thought is sent back in the part of the call that follows it. */
function writeReply(parts: readonly Part[]): readonly JsonValue[] {
  let signature: JsonValue | undefined
  return parts.flatMap((part) => {
    if (part.type === 'reasoning') signature = signatureOf(part) ?? signature
    const written = writePart(part)
    if (part.type !== 'tool-call' || signature === undefined) return written
    const thoughtSignature = signature
    signature = undefined
    return written.map((each) => (isObject(each) ? { ...each, thoughtSignature } : each))
  })
}

function signatureOf({ sealed }: ReasoningPart): JsonValue | undefined {
  if (sealed?.provider !== 'google' || !isObject(sealed.value)) return undefined
  return sealed.value['thoughtSignature']
}

function writePart(part: Part): readonly JsonValue[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text }]
    case 'image':
    case 'file':
      return [writeBlob(part.source) ?? { text: textOf(part) }]
    case 'tool-call':
      return [{ functionCall: { name: part.name, args: part.input } }]
    case 'opaque':
      return isObject(part.value) ? [part.value] : []
    case 'reasoning':
    case 'tool-result':
      return []
  }
}

/** Undefined for a file id, which only another provider can resolve. */
function writeBlob(source: BlobSource): JsonObject | undefined {
  switch (source.kind) {
    case 'base64':
      return { inlineData: { mimeType: source.mediaType, data: source.data } }
    case 'url':
      return { fileData: { fileUri: source.url } }
    case 'id':
      return undefined
  }
}

function writeResult(part: ToolResultPart, name: string): JsonObject {
  const text = textOf(part)
  return { functionResponse: { name, response: part.isError ? { error: text } : { output: text } } }
}
