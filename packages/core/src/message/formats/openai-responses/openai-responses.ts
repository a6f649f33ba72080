import { isObject, type JsonValue } from '../../../base/json.ts'
import type { Codec, Wrapper } from '../../codec.ts'
import type { SystemMessage, UserMessage } from '../../message.ts'
import { plainText } from '../../text.ts'
import {
  closeRequest,
  conversationOf,
  modelOf,
  openRequest,
  rejectRequest,
  rejectRole,
} from '../document.ts'
import { hasWord, originOf, ownOrigin, without } from '../origin.ts'
import { doubtBySigns } from '../signs.ts'
import { type PlainMessage, plain } from './items.ts'
import { readItems, writeItems } from './write-items.ts'

/** OpenAI's Responses API: a request object, or its array of input items alone. */
const FORMAT = 'openai-responses'
/** Roles of messages without a `type`. */
const ROLES = ['user', 'assistant', 'system', 'developer']

export const openaiResponsesFormat: Codec = {
  name: FORMAT,
  framing: 'json',

  reject(document) {
    if (textInput(document) !== undefined) return undefined
    return rejectRequest(document, 'input', (item) =>
      typeof item['type'] === 'string' ? undefined : rejectRole(item, ROLES),
    )
  },

  doubt: (document) => doubtBySigns(openRequest(document, 'input'), FORMAT),

  parse(document) {
    const text = textInput(document)
    const opened = text === undefined ? document : { ...(document as object), input: [] }
    const request = openRequest(opened, 'input')
    const [instructions, wrapper] = takeInstructions(request?.wrapper)
    const messages = readItems(request?.items ?? [], FORMAT)
    const input: UserMessage[] =
      text === undefined
        ? []
        : [
            {
              role: 'user',
              parts: [{ type: 'text', text }],
              origin: originOf(FORMAT, 0, undefined, 'input'),
            },
          ]
    return conversationOf(FORMAT, [...instructions, ...messages, ...input], {
      wrapper,
      model: modelOf(wrapper),
    })
  },

  format(conversation) {
    const messages = conversation.messages.map((message) => plain(message, FORMAT))
    const isOutside = (message: PlainMessage) => hasWord(ownOrigin(message, FORMAT), 'outside')
    const [instructions] = messages.filter(isOutside)
    const inside = messages.filter((message) => !isOutside(message))
    const wrapper = putInstructions(conversation.wrapper, instructions)
    const [only] = inside
    const [part] = only?.parts ?? []
    const isText = inside.length === 1 && hasWord(only && ownOrigin(only, FORMAT), 'input')
    if (isText && part?.type === 'text' && wrapper !== undefined) {
      return { ...wrapper.fields, input: part.text }
    }
    const items = inside.flatMap((message) => writeItems(message, FORMAT))
    return closeRequest(
      items.map(({ item }) => item),
      wrapper,
    )
  },
}

/** `input` may be one string instead of items. */
function textInput(document: JsonValue): string | undefined {
  const input = isObject(document) ? document['input'] : undefined
  return typeof input === 'string' && input !== '' ? input : undefined
}

function takeInstructions(
  wrapper: Wrapper | undefined,
): readonly [readonly SystemMessage[], Wrapper | undefined] {
  const text = wrapper?.fields['instructions']
  if (wrapper === undefined || typeof text !== 'string' || text === '') return [[], wrapper]
  const origin = originOf(FORMAT, -1, undefined, 'outside')
  const message: SystemMessage = { role: 'system', parts: [{ type: 'text', text }], origin }
  return [[message], { ...wrapper, fields: without(wrapper.fields, ['instructions']) ?? {} }]
}

function putInstructions(
  wrapper: Wrapper | undefined,
  message: PlainMessage | undefined,
): Wrapper | undefined {
  if (message === undefined || wrapper === undefined) return wrapper
  return { ...wrapper, fields: { ...wrapper.fields, instructions: plainText(message.parts) } }
}
