import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type {
  AssistantPart,
  Message,
  Origin,
  Part,
  ToolCallPart,
  ToolResultPart,
} from '../../message.ts'
import { opaque, readContent, spellingOf, writeContent } from '../content.ts'
import type { CodecName } from '../names.ts'
import {
  hasWord,
  originOf,
  type Position,
  sameFamilyOrigin,
  textField,
  without,
} from '../origin.ts'
import { readToolInput, writeToolInput } from '../tool-input.ts'
import { itemsOf, type PlainMessage, positioned, type ResponsesItem } from './items.ts'
import {
  isOpaqueItem,
  readOpaqueItem,
  readReasoning,
  readResponsesPart,
  writeResponsesPart,
} from './parts.ts'

/**
 * OpenAI's Responses items. A reply is several items (reasoning, text, calls, unknown ones); we
 * read a run of them as one assistant message, so that no cut can separate them, and each part
 * records in its origin which item it came from.
 */
export function readItems(
  items: readonly JsonValue[],
  format: CodecName,
  lineOf: (at: number) => Line | undefined = () => undefined,
): readonly Message[] {
  const messages: Message[] = []
  let reply: { parts: AssistantPart[]; origins: Origin[] } | undefined
  const flush = () => {
    if (reply === undefined) return
    const { parts, origins } = reply
    const [first, ...others] = origins
    reply = undefined
    if (first === undefined) return
    const origin = others.length === 0 ? first : { ...first, others }
    messages.push({ role: 'assistant', parts, origin })
  }
  for (const [at, item] of items.entries()) {
    const position = { format, at }
    const line = lineOf(at)
    const read = isObject(item) ? readItem(item, position, line) : undefined
    if (read !== undefined && 'role' in read) {
      flush()
      messages.push(read)
      continue
    }
    const said =
      read ?? replyOf([readOpaqueItem(item, position)], position, joined(undefined, line))
    reply ??= { parts: [], origins: [] }
    for (const part of said.parts) reply.parts.push(part)
    reply.origins.push(said.origin)
  }
  flush()
  return messages
}

interface Reply {
  readonly parts: readonly AssistantPart[]
  readonly origin: Origin
}

function replyOf(
  parts: readonly AssistantPart[],
  { format, at }: Position,
  fields: JsonObject | undefined,
  ...words: readonly (string | false)[]
): Reply {
  return {
    parts: positioned(parts, { format, at }),
    origin: originOf(format, at, fields, ...words, parts.length === 0 && 'hollow'),
  }
}

function readItem(
  item: JsonObject,
  position: Position,
  line: Line | undefined,
): Message | Reply | undefined {
  switch (item['type'] ?? 'message') {
    case 'message':
      return readMessage(item, position, line)
    case 'reasoning':
      return replyOf([readReasoning(item, position)], position, joined(undefined, line))
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call': {
      const call = readCall(item, position)
      return call && replyOf([call], position, joined(undefined, line))
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      return readOutput(item, position, line)
    default:
      return undefined
  }
}

function readMessage(
  item: JsonObject,
  position: Position,
  line: Line | undefined,
): Message | Reply | undefined {
  const { format, at } = position
  const { role } = item
  const { parts, spelling } = readContent(item['content'], position, (value) =>
    readResponsesPart(value, position),
  )
  const untyped = item['type'] === undefined && 'untyped'
  const known = ['type', 'role', 'content']
  const fields = joined(without(item, known), line)
  switch (role) {
    case 'assistant':
      return replyOf(parts, position, fields, spelling, untyped)
    case 'user':
      return { role, parts, origin: originOf(format, at, fields, spelling, untyped) }
    case 'system':
    case 'developer': {
      const system = parts.map((part) =>
        part.type === 'text' || part.type === 'opaque'
          ? part
          : opaque('openai', writeResponsesPart(part, format, 'input') ?? null, position),
      )
      const origin = originOf(format, at, fields, spelling, untyped, role)
      return { role: 'system', parts: system, origin }
    }
    default:
      return undefined
  }
}

/** The other fields of an item's line in a log; null for an item without a line. */
export type Line = JsonObject | null

/** Keeps the fields of the line separate from those of the item. */
function joined(fields: JsonObject | undefined, line: Line | undefined): JsonObject | undefined {
  return line === undefined ? fields : { line, ...(fields && { item: fields }) }
}

function itemFields(origin: Origin | undefined): JsonObject | undefined {
  const item = origin?.fields?.['item']
  return origin?.format === 'codex' ? (isObject(item) ? item : undefined) : origin?.fields
}

function readCall(item: JsonObject, { format, at }: Position): ToolCallPart | undefined {
  const { type, arguments: text, input, action } = item
  const id = textField(item, 'call_id')
  const name = type === 'local_shell_call' ? 'local_shell' : textField(item, 'name')
  if (id === undefined || name === undefined) return undefined
  const origin = (...known: string[]) =>
    originOf(format, at, without(item, ['type', 'call_id', ...known]), type as string)
  if (type === 'function_call' && typeof text === 'string') {
    const read = readToolInput(text)
    return { type: 'tool-call', id, name, ...read, origin: origin('name', 'arguments') }
  }
  if (type === 'custom_tool_call' && typeof input === 'string') {
    return { type: 'tool-call', id, name, input, origin: origin('name', 'input') }
  }
  if (type === 'local_shell_call' && action !== undefined) {
    return { type: 'tool-call', id, name, input: action, origin: origin('action') }
  }
  return undefined
}

function readOutput(
  item: JsonObject,
  position: Position,
  line: Line | undefined,
): Message | undefined {
  const { format, at } = position
  const callId = textField(item, 'call_id')
  if (callId === undefined) return undefined
  const { parts, spelling } = readContent(item['output'], position, (value) =>
    readResponsesPart(value, position),
  )
  const fields = without(item, ['type', 'call_id', 'output'])
  const origin = originOf(format, at, fields, spelling, item['type'] as string)
  const part: ToolResultPart = { type: 'tool-result', callId, output: parts, origin }
  return { role: 'tool', parts: [part], origin: originOf(format, at, joined(undefined, line)) }
}

/** One message as items, each with the other fields of its line. */
export function writeItems(
  message: PlainMessage,
  format: CodecName,
): readonly { readonly item: JsonValue; readonly origin: Origin | undefined }[] {
  return itemsOf(message, format).flatMap((item) =>
    writeItem(item, format).map((value) => ({ item: value, origin: item.origin })),
  )
}

function writeItem(item: ResponsesItem, format: CodecName): readonly JsonValue[] {
  const written: JsonValue[] = []
  let words: Part[] = []
  const flush = () => {
    if (words.length > 0) written.push(...writeMessage({ ...item, parts: words }, format))
    words = []
  }
  for (const part of item.parts) {
    const whole = writeWhole(part, format)
    if (whole === undefined) words.push(part)
    else {
      flush()
      written.push(...whole)
    }
  }
  if (item.parts.length === 0) written.push(...writeMessage(item, format))
  flush()
  return written
}

/** The items for a part that is not inside a message; undefined for one that is. */
function writeWhole(part: Part, format: CodecName): readonly JsonValue[] | undefined {
  switch (part.type) {
    case 'reasoning':
      return part.sealed?.provider === 'openai' && isItem(part.sealed.value)
        ? [part.sealed.value]
        : []
    case 'tool-call':
      return [writeCall(part, format)]
    case 'tool-result':
      return [writeOutput(part, format)]
    case 'opaque':
      if (sameFamilyOrigin(part, format) === undefined) {
        return isOpaqueItem(part, format) && isItem(part.value) ? [part.value] : []
      }
      return isOpaqueItem(part, format) ? [part.value] : undefined
    default:
      return undefined
  }
}

/** Whether the API would accept it as an item. */
function isItem(value: JsonValue): boolean {
  return isObject(value) && typeof value['type'] === 'string'
}

function writeMessage(
  { message, origin, parts }: ResponsesItem,
  format: CodecName,
): readonly JsonValue[] {
  if (message.role === 'tool') return []
  const speaker = message.role === 'assistant' ? 'output' : 'input'
  const content = writeContent(parts, spellingOf(origin, 'parts'), format, (part) =>
    writeResponsesPart(part, format, speaker),
  )
  const role = hasWord(origin, 'developer') ? 'developer' : message.role
  return [
    {
      ...(!hasWord(origin, 'untyped') && { type: 'message' }),
      ...itemFields(origin),
      role,
      ...(content !== undefined && { content }),
    },
  ]
}

function writeCall(call: ToolCallPart, format: CodecName): JsonObject {
  const origin = sameFamilyOrigin(call, format)
  const fields = origin?.fields
  if (hasWord(origin, 'custom_tool_call') && typeof call.input === 'string') {
    const { id, name, input } = call
    return { type: 'custom_tool_call', call_id: id, name, input, ...fields }
  }
  if (hasWord(origin, 'local_shell_call')) {
    return { type: 'local_shell_call', call_id: call.id, action: call.input, ...fields }
  }
  const text = writeToolInput(call)
  return { type: 'function_call', call_id: call.id, name: call.name, arguments: text, ...fields }
}

function writeOutput(part: ToolResultPart, format: CodecName): JsonObject {
  const origin = sameFamilyOrigin(part, format)
  const output = writeContent(part.output, spellingOf(origin, 'string'), format, (inner) =>
    writeResponsesPart(inner, format, 'input'),
  )
  const type = OUTPUT_TYPES.find((word) => hasWord(origin, word)) ?? 'function_call_output'
  return { type, call_id: part.callId, ...(output !== undefined && { output }), ...origin?.fields }
}

const OUTPUT_TYPES = [
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
] as const
