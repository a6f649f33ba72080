import { isArray, isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type {
  AssistantPart,
  Message,
  OpaquePart,
  ReasoningPart,
  TextPart,
  ToolResultPart,
} from '../../message.ts'
import { isLost, opaque, readContent, spellingOf, writeContent } from '../content.ts'
import type { PlainMessage } from '../openai-responses/items.ts'
import { hasWord, originOf, ownOrigin, type Position, textField, without } from '../origin.ts'
import {
  inputWord,
  readCallInput,
  readChatPart,
  readToolCall,
  writeChatPart,
  writeInput,
  writeToolCall,
} from './parts.ts'

type ChatFormat = 'openai-chat' | 'hermes'

/** The fields of an assistant message in which servers send reasoning. */
const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const

/** Reads messages in order; it remembers the calls of the old style, which have no ids. */
export function chatReader(format: ChatFormat): (item: JsonObject, at: number) => Message {
  const openCalls = new Map<string, string>()
  return (item, at) => {
    const position = { format, at } as const
    switch (item['role']) {
      case 'assistant':
        return readAssistant(item, position, openCalls)
      case 'tool':
      case 'function':
        return readTool(item, position, openCalls)
      case 'user': {
        const { parts, spelling } = contentOf(item, position)
        const fields = without(item, ['role', 'content'])
        return { role: 'user', parts, origin: originOf(format, at, fields, spelling) }
      }
      default: {
        const { parts, spelling } = contentOf(item, position)
        const fields = without(item, item['role'] === 'system' ? ['role', 'content'] : ['content'])
        const origin = originOf(format, at, fields, spelling)
        return { role: 'system', parts: parts.map(asSystemPart), origin }
      }
    }
  }

  function asSystemPart(part: ReturnType<typeof readChatPart>): TextPart | OpaquePart {
    if (part.type === 'text' || part.type === 'opaque') return part
    return opaque('openai', writeChatPart(part, format) ?? null, { format, at: 0 })
  }
}

function contentOf(item: JsonObject, position: Position) {
  return readContent(item['content'], position, (value) => readChatPart(value, position))
}

function readAssistant(
  item: JsonObject,
  position: Position,
  openCalls: Map<string, string>,
): Message {
  const { format, at } = position
  const { parts: content, spelling } = contentOf(item, position)
  const known = ['role', 'content']
  const parts: AssistantPart[] = []
  for (const key of REASONING_FIELDS) {
    const text = item[key]
    if (typeof text !== 'string' || text === '') continue
    known.push(key)
    parts.push({ type: 'reasoning', text, origin: originOf(format, at, undefined, key) })
  }
  for (const part of content) parts.push(part)
  if (typeof item['refusal'] === 'string' && item['refusal'] !== '') {
    known.push('refusal')
    const origin = originOf(format, at, undefined, 'refusal-field')
    parts.push({ type: 'text', text: item['refusal'], origin })
  }
  if (isObject(item['audio'])) {
    known.push('audio')
    parts.push(opaque('openai', item['audio'], position, 'audio-field'))
  }
  const calls = item['tool_calls']
  if (isArray(calls)) {
    known.push('tool_calls')
    for (const call of calls) {
      parts.push(readToolCall(call, position) ?? opaque('other', call, position, 'call'))
    }
  }
  const old = item['function_call']
  if (isObject(old) && typeof old['name'] === 'string') {
    known.push('function_call')
    const id = `function_call_${at}`
    openCalls.set(old['name'], id)
    const origin = originOf(
      format,
      at,
      without(old, ['name', 'arguments']),
      'function-call',
      inputWord(old['arguments']),
    )
    parts.push({
      type: 'tool-call',
      id,
      name: old['name'],
      ...readCallInput(old['arguments']),
      origin,
    })
  }
  const hasEmptyCalls = Array.isArray(calls) && calls.length === 0
  const origin = originOf(format, at, without(item, known), spelling, hasEmptyCalls && 'no-calls')
  return { role: 'assistant', parts, origin }
}

function readTool(item: JsonObject, position: Position, openCalls: Map<string, string>): Message {
  const { format, at } = position
  const { parts: output, spelling } = contentOf(item, position)
  const name = textField(item, 'name')
  const known = ['role', 'content', ...(name === undefined ? [] : ['name'])]
  const origin = { origin: originOf(format, at) }
  const named = name === undefined ? {} : { name }
  if (item['role'] === 'function') {
    const callId = openCalls.get(name ?? '') ?? `function_call_${at}`
    const partOrigin = originOf(format, at, without(item, known), spelling, 'function')
    const part: ToolResultPart = {
      type: 'tool-result',
      callId,
      ...named,
      output,
      origin: partOrigin,
    }
    return { role: 'tool', parts: [part], ...origin }
  }
  const callId = textField(item, 'tool_call_id')
  if (callId !== undefined) known.push('tool_call_id')
  const partOrigin = originOf(
    format,
    at,
    without(item, known),
    spelling,
    callId === undefined && 'no-id',
  )
  const part: ToolResultPart = {
    type: 'tool-result',
    callId: callId ?? '',
    ...named,
    output,
    origin: partOrigin,
  }
  return { role: 'tool', parts: [part], ...origin }
}

/** One foreign message, or one per result; none if the format can express no part of it. */
export function writeChatMessage(message: PlainMessage, format: ChatFormat): readonly JsonObject[] {
  if (message.role === 'tool') return message.parts.map((part) => writeResult(part, format))
  if (message.role === 'assistant') return writeAssistant(message, format)
  const origin = ownOrigin(message, format)
  const content = writeContent(message.parts, spellingOf(origin, 'string'), format, (part) =>
    writeChatPart(part, format),
  )
  if (isLost(content, message.parts)) return []
  return [{ role: message.role, ...origin?.fields, ...(content !== undefined && { content }) }]
}

function writeAssistant(
  message: Extract<PlainMessage, { role: 'assistant' }>,
  format: ChatFormat,
): readonly JsonObject[] {
  const origin = ownOrigin(message, format)
  const content: AssistantPart[] = []
  const calls: JsonValue[] = []
  const beside: { [key: string]: JsonValue } = {}
  for (const part of message.parts) {
    const own = ownOrigin(part, format)
    if (part.type === 'tool-call') {
      if (hasWord(own, 'function-call')) {
        beside['function_call'] = { name: part.name, ...writeInput(part, format), ...own?.fields }
      } else calls.push(writeToolCall(part, format))
    } else if (part.type === 'reasoning') writeReasoning(part, format, beside)
    else if (part.type === 'opaque' && hasWord(own, 'call')) calls.push(part.value)
    else if (part.type === 'opaque' && hasWord(own, 'audio-field')) beside['audio'] = part.value
    else if (part.type === 'text' && hasWord(own, 'refusal-field')) beside['refusal'] = part.text
    else content.push(part)
  }
  const hasOther = calls.length > 0 || Object.keys(beside).length > 0
  const spelling = spellingOf(origin, hasOther && content.length === 0 ? 'null' : 'string')
  let written = writeContent(content, spelling, format, (part) => writeChatPart(part, format))
  if (isLost(written, content)) {
    if (!hasOther) return []
    written = null
  }
  return [
    {
      ...origin?.fields,
      role: 'assistant',
      ...(written !== undefined && { content: written }),
      ...beside,
      ...((calls.length > 0 || hasWord(origin, 'no-calls')) && { tool_calls: calls }),
    },
  ]
}

/** Drops another provider's sealed reasoning; open reasoning goes into the field it came from. */
function writeReasoning(
  part: ReasoningPart,
  format: ChatFormat,
  beside: { [key: string]: JsonValue },
): void {
  if (part.sealed !== undefined) return
  const key = REASONING_FIELDS.find((word) => hasWord(ownOrigin(part, format), word))
  const field = key ?? REASONING_FIELDS[0]
  const before = beside[field]
  beside[field] = typeof before === 'string' ? `${before}\n${part.text}` : part.text
}

function writeResult(part: ToolResultPart, format: ChatFormat): JsonObject {
  const origin = ownOrigin(part, format)
  const content = writeContent(part.output, spellingOf(origin, 'string'), format, (inner) =>
    writeChatPart(inner, format),
  )
  const isOld = hasWord(origin, 'function')
  return {
    ...origin?.fields,
    role: isOld ? 'function' : 'tool',
    ...(!isOld &&
      !(hasWord(origin, 'no-id') && part.callId === '') && { tool_call_id: part.callId }),
    ...(part.name !== undefined && { name: part.name }),
    ...(content !== undefined && { content }),
  }
}
