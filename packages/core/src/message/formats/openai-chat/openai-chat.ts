import type { JsonObject } from '../../../base/json.ts'
import type { Codec } from '../../codec.ts'
import { closeRequest, conversationOf, modelOf, openRequest, rejectMessages } from '../document.ts'
import { plain } from '../openai-responses/items.ts'
import { doubtBySigns, doubtBySystem } from '../signs.ts'
import { chatReader, writeChatMessage } from './chat-message.ts'

/** OpenAI's Chat Completions: a request object, or its array of messages alone. */
const FORMAT = 'openai-chat'
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function']

export const openaiChatFormat: Codec = {
  name: FORMAT,
  framing: 'json',

  reject: (document) => rejectMessages(document, ROLES),

  doubt(document) {
    const request = openRequest(document, 'messages')
    return doubtBySigns(request, FORMAT) ?? doubtBySystem(request, FORMAT)
  },

  parse(document) {
    const request = openRequest(document, 'messages')
    const read = chatReader(FORMAT)
    const messages = (request?.items ?? []).map((item, at) => read(item as JsonObject, at))
    const wrapper = request?.wrapper
    return conversationOf(FORMAT, messages, { wrapper, model: modelOf(wrapper) })
  },

  format(conversation) {
    const items = conversation.messages.flatMap((message) =>
      writeChatMessage(plain(message, FORMAT), FORMAT),
    )
    return closeRequest(items, conversation.wrapper)
  },
}
