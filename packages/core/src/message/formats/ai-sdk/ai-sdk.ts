import type { JsonObject, JsonValue } from '../../../base/json.ts'
import type { Codec, Wrapper } from '../../codec.ts'
import type { AssistantPart, Message, Part, SystemMessage, ToolResultPart } from '../../message.ts'
import { plainText } from '../../text.ts'
import { isLost, opaque, readContent, spellingOf, writeContent } from '../content.ts'
import { closeRequest, conversationOf, modelOf, openRequest, rejectMessages } from '../document.ts'
import { type PlainMessage, plain } from '../openai-responses/items.ts'
import { hasWord, originOf, ownOrigin, without } from '../origin.ts'
import { doubtBySigns } from '../signs.ts'
import { readAiAssistantPart, readAiPart, writeAiPart } from './parts.ts'
import { readAiResult, writeAiResult } from './result.ts'

/** The AI SDK's `ModelMessage`s: an array, or the options of a call with a separate `system`. */
const FORMAT = 'ai-sdk'
const ROLES = ['system', 'user', 'assistant', 'tool']

export const aiSdkFormat: Codec = {
  name: FORMAT,
  framing: 'json',

  reject: (document) => rejectMessages(document, ROLES),

  doubt: (document) => doubtBySigns(openRequest(document, 'messages'), FORMAT),

  parse(document) {
    const request = openRequest(document, 'messages')
    const [system, wrapper] = takeSystem(request?.wrapper)
    const messages = (request?.items ?? []).map((item, at) => readMessage(item as JsonObject, at))
    return conversationOf(FORMAT, [...system, ...messages], { wrapper, model: modelOf(wrapper) })
  },

  format(conversation) {
    const messages = conversation.messages.map((message) => plain(message, FORMAT))
    const isOutside = (message: PlainMessage) => hasWord(ownOrigin(message, FORMAT), 'outside')
    const inside = messages.filter((message) => !isOutside(message))
    const wrapper = putSystem(conversation.wrapper, messages.filter(isOutside))
    return closeRequest(inside.flatMap(writeMessage), wrapper)
  },
}

function readMessage(item: JsonObject, at: number): Message {
  const position = { format: FORMAT, at } as const
  const read = <P>(readPart: (value: JsonValue, at: number) => P) =>
    readContent(item['content'], position, (value) => readPart(value, at))
  const origin = (...words: string[]) =>
    originOf(FORMAT, at, without(item, ['role', 'content']), ...words)
  switch (item['role']) {
    case 'assistant': {
      const { parts, spelling } = read<AssistantPart>(readAiAssistantPart)
      return { role: 'assistant', parts, origin: origin(spelling) }
    }
    case 'tool': {
      // A tool message should contain only results; any other part is kept inside a result without
      // a call.
      const { parts, spelling } = read((value) => readAiResult(value, at) ?? stray(value, at))
      const results = parts.map((part) =>
        part.type === 'tool-result' ? part : wrapStray(part, at),
      )
      return { role: 'tool', parts: results, origin: origin(spelling) }
    }
    case 'system': {
      const { parts, spelling } = read((value) => opaque('other', value, position))
      return { role: 'system', parts, origin: origin(spelling) }
    }
    default: {
      const { parts, spelling } = read(readAiPart)
      return { role: 'user', parts, origin: origin(spelling) }
    }
  }
}

function stray(value: JsonValue, at: number): ToolResultPart {
  return wrapStray(opaque('other', value, { format: FORMAT, at }), at)
}

function wrapStray(part: ToolResultPart['output'][number], at: number): ToolResultPart {
  const origin = originOf(FORMAT, at, undefined, 'stray')
  return { type: 'tool-result', callId: '', output: [part], origin }
}

function writeMessage(message: PlainMessage): readonly JsonValue[] {
  const origin = ownOrigin(message, FORMAT)
  const usual = message.role === 'tool' || message.role === 'assistant' ? 'parts' : 'string'
  const parts: readonly Part[] = message.parts.map(unwrapStray)
  // A system message is one string here, so a prompt in several parts is joined.
  if (message.role === 'system' && origin === undefined && parts.length > 1)
    return [{ role: message.role, content: plainText(parts) }]
  const content = writeContent(parts, spellingOf(origin, usual), FORMAT, (part) =>
    part.type === 'tool-result' ? writeAiResult(part) : writeAiPart(part),
  )
  if (isLost(content, parts)) return []
  return [{ role: message.role, ...(content !== undefined && { content }), ...origin?.fields }]
}

function unwrapStray(part: Part): Part {
  if (part.type !== 'tool-result' || !hasWord(ownOrigin(part, FORMAT), 'stray')) return part
  return part.output[0] ?? part
}

function takeSystem(
  wrapper: Wrapper | undefined,
): readonly [readonly SystemMessage[], Wrapper | undefined] {
  const text = wrapper?.fields['system']
  if (wrapper === undefined || typeof text !== 'string' || text === '') return [[], wrapper]
  const origin = originOf(FORMAT, -1, undefined, 'outside')
  const message: SystemMessage = { role: 'system', parts: [{ type: 'text', text }], origin }
  return [[message], { ...wrapper, fields: without(wrapper.fields, ['system']) ?? {} }]
}

function putSystem(
  wrapper: Wrapper | undefined,
  messages: readonly PlainMessage[],
): Wrapper | undefined {
  if (messages.length === 0 || wrapper === undefined) return wrapper
  const system = plainText(messages.flatMap<Part>(({ parts }) => parts))
  return { ...wrapper, fields: { ...wrapper.fields, system } }
}
