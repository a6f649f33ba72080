import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { Origin, ResultPart, ToolResultPart } from '../../message.ts'
import { blobText } from '../blob.ts'
import { opaque, readBare } from '../content.ts'
import {
  asList,
  hasWord,
  originOf,
  originOfPart,
  ownOrigin,
  textField,
  without,
} from '../origin.ts'
import { parseOr } from '../tool-input.ts'

/**
 * Tool results of the AI SDK: a typed `output` since version 5, a bare `result` before. Values
 * become text in our model; a word in the origin's shape restores the value's type on writing.
 */
const FORMAT = 'ai-sdk'

export function readAiResult(value: JsonValue, at: number): ToolResultPart | undefined {
  if (!isObject(value) || value['type'] !== 'tool-result') return undefined
  const [callId, name] = [textField(value, 'toolCallId'), textField(value, 'toolName')]
  if (callId === undefined) return undefined
  const key = 'output' in value || !('result' in value) ? 'output' : 'result'
  const known = ['type', 'toolCallId', key, ...(name === undefined ? [] : ['toolName'])]
  const fields = without(value, known) ?? {}
  const read = key === 'result' ? readValue(value[key], 'result') : readOutput(value['output'], at)
  const isError = read.words.some((word) => word.startsWith('error-'))
  return {
    type: 'tool-result',
    callId,
    ...(name !== undefined && { name }),
    output: read.output,
    ...(isError && { isError }),
    origin: originOf(
      FORMAT,
      at,
      { ...fields, ...(read.inner && { output: read.inner }) },
      ...read.words,
      name === undefined && 'unnamed',
    ),
  }
}

interface Read {
  readonly output: readonly ResultPart[]
  readonly words: readonly string[]
  readonly inner?: JsonObject | undefined
}

function readOutput(output: JsonValue | undefined, at: number): Read {
  const position = { format: FORMAT, at } as const
  if (!isObject(output)) {
    return output === undefined
      ? { output: [], words: ['absent'] }
      : { output: [opaque('other', output, position)], words: ['whole'] }
  }
  const { type, value } = output
  const inner = without(output, ['type', 'value'])
  if ((type === 'text' || type === 'error-text') && typeof value === 'string') {
    return { output: [{ type: 'text', text: value }], words: [type], inner }
  }
  if ((type === 'json' || type === 'error-json') && value !== undefined) {
    return { ...readValue(value, type), inner }
  }
  if (type === 'content' && Array.isArray(value)) {
    return { output: asList(value).map((part) => readOutputPart(part, at)), words: [type], inner }
  }
  return { output: [opaque('other', output, position)], words: ['whole'] }
}

function readValue(value: JsonValue | undefined, word: string): Read {
  if (value === undefined) return { output: [], words: [word] }
  return { output: [{ type: 'text', text: JSON.stringify(value) }], words: [word] }
}

function readOutputPart(value: JsonValue, at: number): ResultPart {
  const position = { format: FORMAT, at } as const
  if (!isObject(value)) return readBare(value, position)
  const { type, text, data, mediaType } = value
  if (type === 'text' && typeof text === 'string') {
    return { type, text, ...originOfPart(FORMAT, at, without(value, ['type', 'text'])) }
  }
  const isMedia = type === 'media' || type === 'image-data' || type === 'file-data'
  if (isMedia && typeof data === 'string' && typeof mediaType === 'string') {
    const kind = mediaType.startsWith('image/') ? 'image' : 'file'
    const fields = without(value, ['type', 'data', 'mediaType'])
    const source = { kind: 'base64', mediaType, data } as const
    return { type: kind, source, origin: originOf(FORMAT, at, fields, type) }
  }
  return opaque('other', value, position)
}

export function writeAiResult(part: ToolResultPart): JsonObject {
  const origin = ownOrigin(part, FORMAT)
  const { output: inner, ...fields } = origin?.fields ?? {}
  const output = writeOutput(part, origin)
  return {
    type: 'tool-result',
    toolCallId: part.callId,
    ...(!(part.name === undefined && hasWord(origin, 'unnamed')) && { toolName: part.name ?? '' }),
    ...(isObject(output['output']) && isObject(inner)
      ? { output: { ...output['output'], ...inner } }
      : output),
    ...fields,
  }
}

/** In its original form if that still fits the content; otherwise in the simplest form. */
function writeOutput(part: ToolResultPart, origin: Origin | undefined): JsonObject {
  const [first] = part.output
  const single = part.output.length === 1 ? first : undefined
  if (single === undefined && part.output.length === 0 && hasWord(origin, 'absent')) return {}
  if (single?.type === 'opaque' && hasWord(origin, 'whole')) return { output: single.value }
  if (single?.type === 'text' && single.origin === undefined && !hasWord(origin, 'content')) {
    const { text } = single
    for (const type of ['json', 'error-json', 'result']) {
      const value = hasWord(origin, type) ? parseOr(text, undefined) : undefined
      if (value === undefined) continue
      return type === 'result' ? { result: value } : { output: { type, value } }
    }
    return { output: { type: part.isError ? 'error-text' : 'text', value: text } }
  }
  const value = part.output.map(writeOutputPart).filter((each) => each !== undefined)
  return { output: { type: 'content', value } }
}

function writeOutputPart(part: ResultPart): JsonValue | undefined {
  const origin = ownOrigin(part, FORMAT)
  const fields = origin?.fields
  switch (part.type) {
    case 'text':
      return hasWord(origin, 'bare') ? part.text : { type: 'text', text: part.text, ...fields }
    case 'image':
    case 'file': {
      const { source } = part
      if (source.kind !== 'base64') return blobText(part)
      const { mediaType, data } = source
      return { type: origin?.shape ?? 'media', data, mediaType, ...fields }
    }
    case 'opaque':
      return origin === undefined ? undefined : part.value
  }
}
