import { isArray, isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { Codec } from '../../codec.ts'
import type { AssistantPart, Message, Part, ToolCallPart, ToolResultPart } from '../../message.ts'
import { isLost, opaque, readContent, spellingOf, writeContent } from '../content.ts'
import { conversationOf, rejectItems } from '../document.ts'
import { type PlainMessage, plain } from '../openai-responses/items.ts'
import {
  hasWord,
  originOf,
  originOfPart,
  ownOrigin,
  type Position,
  textField,
  without,
} from '../origin.ts'
import { readLangchainBlock, writeLangchainBlock } from './blocks.ts'

/** The fields of LangChain's messages: `{ type: 'ai', content, tool_calls, … }`. */
const FORMAT = 'langchain'
const TYPES: readonly unknown[] = ['human', 'ai', 'system', 'tool', 'generic', 'function']

export const langchainFormat: Codec<'langchain'> = {
  name: FORMAT,
  framing: 'json',

  reject(document) {
    if (!isArray(document)) return 'expected an array'
    return rejectItems({ items: document }, (item) => {
      if (TYPES.includes(item['type'])) return 'content' in item ? undefined : 'has no content'
      if ('role' in item)
        return 'has a role and is no message: make it with coerceMessageLikeToMessage'
      return `has the type ${JSON.stringify(item['type'] ?? null).slice(0, 40)}, known are ${TYPES.join(', ')}`
    })
  },

  parse(document) {
    const items = isArray(document) ? document : []
    return conversationOf(
      FORMAT,
      items.flatMap((item, at) => (isObject(item) ? [readMessage(item, at)] : [])),
    )
  },

  format: ({ messages }) => messages.flatMap((message) => writeMessage(plain(message, FORMAT))),
}

function readMessage(item: JsonObject, at: number): Message {
  const position = { format: FORMAT, at } as const
  const { parts, spelling } = readContent(item['content'], position, (value) =>
    readLangchainBlock(value, position),
  )
  const origin = (...known: readonly string[]) =>
    originOf(FORMAT, at, without(item, ['content', ...known]), spelling)
  switch (item['type']) {
    case 'ai':
      return readReply(item, parts, position, spelling)
    case 'tool':
      return readResult(item, parts, position, spelling)
    case 'system': {
      const texts = parts.map((part) =>
        part.type === 'text' || part.type === 'opaque'
          ? part
          : opaque('other', writeLangchainBlock(part) ?? null, position),
      )
      return { role: 'system', parts: texts, origin: origin('type') }
    }
    // Other kinds become user messages, and keep their type.
    default:
      return { role: 'user', parts, origin: item['type'] === 'human' ? origin('type') : origin() }
  }
}

function readReply(
  item: JsonObject,
  content: readonly AssistantPart[],
  position: Position,
  spelling: string,
): Message {
  const { tool_calls: calls } = item
  const known = ['type', 'content', ...(isArray(calls) ? ['tool_calls'] : [])]
  const parts = isArray(calls) ? calls.map((call) => readCall(call, position)) : []
  const hasEmptyCalls = isArray(calls) && calls.length === 0
  const origin = originOf(
    FORMAT,
    position.at,
    without(item, known),
    spelling,
    hasEmptyCalls && 'no-calls',
  )
  return { role: 'assistant', parts: [...content, ...parts], origin }
}

function readCall(value: JsonValue, position: Position): AssistantPart {
  const name = isObject(value) ? textField(value, 'name') : undefined
  if (!isObject(value) || name === undefined) return opaque('other', value, position, 'call')
  const id = textField(value, 'id')
  const fields = without(value, ['name', 'args', ...(id === undefined ? [] : ['id'])])
  return {
    ...{ type: 'tool-call', id: id ?? '', name, input: value['args'] ?? {} },
    ...originOfPart(FORMAT, position.at, fields, id === undefined && 'no-id'),
  }
}

function readResult(
  item: JsonObject,
  output: ToolResultPart['output'],
  { at }: Position,
  spelling: string,
): Message {
  const [callId, name] = [textField(item, 'tool_call_id'), textField(item, 'name')]
  const known = ['type', 'content', 'tool_call_id', ...(name === undefined ? [] : ['name'])]
  const part: ToolResultPart = {
    ...{ type: 'tool-result', callId: callId ?? '', output },
    ...(name !== undefined && { name }),
    ...(item['status'] === 'error' && { isError: true }),
    origin: originOf(FORMAT, at, without(item, known), spelling),
  }
  return { role: 'tool', parts: [part], origin: originOf(FORMAT, at) }
}

function writeMessage(message: PlainMessage): readonly JsonObject[] {
  if (message.role === 'tool') return message.parts.map(writeResult)
  const origin = ownOrigin(message, FORMAT)
  const isCall = (part: Part) =>
    part.type === 'tool-call' ||
    (part.type === 'opaque' && hasWord(ownOrigin(part, FORMAT), 'call'))
  const parts: readonly Part[] = message.parts
  const said = parts.filter((part) => !isCall(part))
  const calls = parts.filter(isCall).map(writeCall)
  const content =
    writeContent(said, spellingOf(origin, 'string'), FORMAT, writeLangchainBlock) ?? ''
  if (isLost(content, said) && calls.length === 0) return []
  const type = message.role === 'assistant' ? 'ai' : message.role === 'user' ? 'human' : 'system'
  const hasCalls = calls.length > 0 || hasWord(origin, 'no-calls')
  return [{ type, content, ...(hasCalls && { tool_calls: calls }), ...origin?.fields }]
}

function writeCall(part: Part): JsonValue {
  if (part.type === 'opaque') return part.value
  const { id, name, input } = part as ToolCallPart
  const origin = ownOrigin(part, FORMAT)
  const known = hasWord(origin, 'no-id') && id === '' ? {} : { id }
  return { name, args: input, ...known, ...(origin?.fields ?? { type: 'tool_call' }) }
}

function writeResult(part: ToolResultPart): JsonObject {
  const origin = ownOrigin(part, FORMAT)
  return {
    type: 'tool',
    content:
      writeContent(part.output, spellingOf(origin, 'string'), FORMAT, writeLangchainBlock) ?? '',
    tool_call_id: part.callId,
    ...(part.name !== undefined && { name: part.name }),
    ...(part.isError === true && { status: 'error' }),
    ...origin?.fields,
  }
}
