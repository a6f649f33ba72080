import { isObject, type JsonValue } from '../../../base/json.ts'
import type { Codec, Wrapper } from '../../codec.ts'
import type { Message, SystemMessage } from '../../message.ts'
import { isLost, readContent, spellingOf, writeContent } from '../content.ts'
import { closeRequest, conversationOf, modelOf, openRequest, rejectMessages } from '../document.ts'
import { type PlainMessage, plain } from '../openai-responses/items.ts'
import { hasWord, originOf, ownOrigin, without } from '../origin.ts'
import { doubtBySigns } from '../signs.ts'
import { readAssistantBlock, readSystemBlock, writeBlock } from './blocks.ts'
import { joinUsers, readUser } from './user.ts'

/** Anthropic's Messages API: a request object, or its array of messages alone. */
const FORMAT = 'anthropic'
const ROLES = ['user', 'assistant', 'system']

export const anthropicFormat: Codec = {
  name: FORMAT,
  framing: 'json',

  reject: (document) => rejectMessages(document, ROLES),

  doubt: (document) => doubtBySigns(openRequest(document, 'messages'), FORMAT),

  parse(document) {
    const request = openRequest(document, 'messages')
    const messages = (request?.items ?? []).flatMap((item, at) => readMessage(item, at))
    const [system, wrapper] = takeSystem(request?.wrapper)
    return conversationOf(FORMAT, [...system, ...messages], { wrapper, model: modelOf(wrapper) })
  },

  format(conversation) {
    const messages = conversation.messages.map((message) => plain(message, FORMAT))
    const system: SystemMessage[] = []
    const inside: PlainMessage[] = []
    for (const message of messages) {
      // A system prompt stays outside the messages if it was there, or is new and comes first.
      const origin = ownOrigin(message, FORMAT)
      const isOutside = origin === undefined ? inside.length === 0 : hasWord(origin, 'outside')
      if (message.role === 'system' && isOutside) system.push(message)
      else inside.push(message)
    }
    return closeRequest(writeMessages(inside), putSystem(conversation.wrapper, system))
  },
}

function readMessage(item: JsonValue, at: number): readonly Message[] {
  if (!isObject(item)) return []
  const position = { format: FORMAT, at } as const
  const fields = without(item, ['role', 'content'])
  const content = item['content']
  if (item['role'] === 'user') return readUser(content, position, fields)

  const read = item['role'] === 'assistant' ? readAssistantBlock : readSystemBlock
  const { parts, spelling } = readContent(content, position, (block) => read(block, position))
  const origin = originOf(FORMAT, at, fields, spelling)
  return [{ role: item['role'] as 'assistant', parts, origin } as Message]
}

function writeMessages(messages: readonly PlainMessage[]): readonly JsonValue[] {
  return joinUsers(messages, FORMAT).flatMap(({ message, origin, parts }) => {
    const role = message.role === 'tool' ? 'user' : message.role
    const spelling = spellingOf(origin, message.role === 'tool' ? 'parts' : 'string')
    const content = writeContent(parts, spelling, FORMAT, (part) => writeBlock(part, FORMAT))
    if (isLost(content, parts)) return []
    return [{ ...origin?.fields, role, ...(content !== undefined && { content }) }]
  })
}

function takeSystem(
  wrapper: Wrapper | undefined,
): readonly [readonly SystemMessage[], Wrapper | undefined] {
  const system = wrapper?.fields['system']
  const isThere =
    (typeof system === 'string' && system !== '') || (Array.isArray(system) && system.length > 0)
  if (wrapper === undefined || !isThere) return [[], wrapper]
  const position = { format: FORMAT, at: -1 } as const
  const { parts, spelling } = readContent(system, position, (block) =>
    readSystemBlock(block, position),
  )
  const origin = originOf(FORMAT, -1, undefined, spelling, 'outside')
  const message: SystemMessage = { role: 'system', parts, origin }
  return [[message], { key: wrapper.key, fields: without(wrapper.fields, ['system']) ?? {} }]
}

function putSystem(
  wrapper: Wrapper | undefined,
  messages: readonly SystemMessage[],
): Wrapper | undefined {
  const [first] = messages
  if (first === undefined) return wrapper
  const spelling = spellingOf(ownOrigin(first, FORMAT), 'string')
  const parts = messages.flatMap((message) => message.parts)
  const system = writeContent(parts, spelling, FORMAT, (part) => writeBlock(part, FORMAT))
  if (system === undefined) return wrapper
  return { key: 'messages', fields: { ...wrapper?.fields, system } }
}
