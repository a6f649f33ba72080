import { isArray, isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { Codec } from '../../codec.ts'
import type { Message } from '../../message.ts'
import { joinUsers, splitResults } from '../anthropic/user.ts'
import { isLost, readContent, spellingOf, writeContent } from '../content.ts'
import { conversationOf, rejectItems } from '../document.ts'
import { plain, type ResponsesItem } from '../openai-responses/items.ts'
import { hasWord, originOf, without } from '../origin.ts'
import { GeminiCalls } from './calls.ts'
import { readGeminiPart, readGeminiReplyPart, writeGeminiPart } from './parts.ts'

/** The `contents` of Gemini's `generateContent`. System text is separate, in its `config`. */
const FORMAT = 'gemini'
const ROLES: readonly unknown[] = ['user', 'model', 'function', undefined]

export const geminiFormat: Codec<'gemini'> = {
  name: FORMAT,
  framing: 'json',

  reject(document) {
    if (!isArray(document)) return 'expected an array'
    return rejectItems({ items: document }, (item) => {
      if ('content' in item) return 'has "content" where "parts" is due'
      if (!ROLES.includes(item['role'])) {
        return `has the role ${JSON.stringify(item['role']).slice(0, 40)}, known are user and model`
      }
      return item['parts'] === undefined || isArray(item['parts']) ? undefined : 'has no parts'
    })
  },

  parse(document) {
    const calls = new GeminiCalls()
    const items = isArray(document) ? document : []
    const messages = items.flatMap((item, at) => (isObject(item) ? readTurn(item, at, calls) : []))
    return conversationOf(FORMAT, messages)
  },

  format({ messages }) {
    const calls = new GeminiCalls()
    const items = joinUsers(
      messages.map((message) => plain(message, FORMAT)),
      FORMAT,
    )
    return items.flatMap((item) => writeTurn(item, calls))
  },
}

function readTurn(item: JsonObject, at: number, calls: GeminiCalls): readonly Message[] {
  const position = { format: FORMAT, at } as const
  const fields = without(item, ['role', 'parts'])
  if (item['role'] === 'model') {
    calls.nextTurn()
    const { parts, spelling } = readContent(item['parts'], position, (part) =>
      readGeminiReplyPart(part, position, calls),
    )
    return [{ role: 'assistant', parts, origin: originOf(FORMAT, at, fields, spelling) }]
  }
  const { parts, spelling } = readContent(item['parts'], position, (part) =>
    readGeminiPart(part, position, calls),
  )
  const role = item['role'] === 'user' ? undefined : `role:${item['role'] ?? 'none'}`
  return splitResults(parts, position, fields, spelling, role)
}

function writeTurn(item: ResponsesItem, calls: GeminiCalls): readonly JsonValue[] {
  const { message, origin } = item
  if (message.role === 'assistant') calls.nextTurn()
  for (const part of item.parts) if (part.type === 'tool-call') calls.note(part)
  const isForeign = message.role === 'tool' && origin === undefined
  const inOrder = isForeign ? calls.sorted(item.parts) : item.parts
  const parts = writeContent(inOrder, spellingOf(origin, 'parts'), FORMAT, (part) =>
    writeGeminiPart(part, calls),
  )
  if (isLost(parts, item.parts)) return []
  const own = message.role === 'assistant' ? 'model' : 'user'
  const role = hasWord(origin, 'role:function') ? 'function' : own
  return [
    {
      ...origin?.fields,
      ...(!hasWord(origin, 'role:none') && { role }),
      ...(parts !== undefined && { parts }),
    },
  ]
}
