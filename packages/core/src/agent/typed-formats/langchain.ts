/** `@throughline/core/langchain`: messages of the `@langchain/core` (1) that you have installed. */
import {
  AIMessage,
  type BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { isObject, type JsonObject, type JsonValue, orderedJson } from '../../base/json.ts'
import type { Codec } from '../../message/codec.ts'
import { openaiChatDialect } from '../../message/dialects/openai-chat.ts'
import { langchainFormat } from '../../message/formats/langchain/langchain.ts'
import type { Origin } from '../../message/message.ts'
import { repairPairs } from '../../message/pairing.ts'
import { type Format, makeFormat } from './format.ts'

export interface LangChain {
  readonly message: BaseMessage
  readonly request: {
    messages: BaseMessage[]
    tools?: {
      type: 'function'
      function: { name: string; description: string; parameters: Record<string, unknown> }
    }[]
  }
  /** What `model.invoke` returned. */
  readonly reply: BaseMessage
}

const CLASSES = {
  human: HumanMessage,
  ai: AIMessage,
  system: SystemMessage,
  tool: ToolMessage,
  generic: ChatMessage,
  function: FunctionMessage,
}

/** Which message an origin was read from: one that did not change comes back as the same instance. */
const sources = new WeakMap<Origin, { readonly message: BaseMessage; readonly text: string }>()

const codec: Codec<'langchain'> = {
  ...langchainFormat,
  reject: (document) => langchainFormat.reject(fieldsOfAll(document)),
  parse(document) {
    const items = fieldsOfAll(document)
    const conversation = langchainFormat.parse(items)
    for (const { origin } of conversation.messages) {
      if (origin === undefined) continue
      const message: unknown = (document as readonly JsonValue[])[origin.at]
      const fields = (items as readonly JsonObject[])[origin.at]
      if (fields !== undefined && isInstance(message)) {
        sources.set(origin, { message, text: orderedJson(fields) })
      }
    }
    return conversation
  },
  format(conversation) {
    const known = new Map<string, BaseMessage>()
    for (const { origin } of conversation.messages) {
      const source = origin && sources.get(origin)
      if (source) known.set(source.text, source.message)
    }
    const items = langchainFormat.format(conversation) as readonly JsonObject[]
    // A codec's type speaks of JSON; the messages of LangChain are instances.
    return items.map((item) => known.get(orderedJson(item)) ?? messageOf(item)) as never
  },
}

/**
 * Messages of LangChain: `model.bindTools(request.tools ?? []).invoke(request.messages)`. What is kept
 * stays as it is, also where only one provider understands it.
 */
export const langchain: Format<LangChain> = /* @__PURE__ */ makeFormat<LangChain>({
  codec,
  dialect: openaiChatDialect,
  // LangChain's package for each provider knows what it accepts.
  legal: (messages) => repairPairs(messages).messages,
  family: 'generic',
  request: (messages, tools) => ({
    messages: codec.format({ format: 'langchain', messages, notes: [] }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema }) => ({
        ...{ type: 'function', function: { name, description, parameters: schema } },
      })),
    }),
  }),
  itemsOf: (reply) => (isInstance(reply) ? [reply] : null),
})

function isInstance(value: unknown): value is BaseMessage {
  return isObject(value as JsonValue) && 'lc_serializable' in (value as object)
}

function fieldsOfAll(document: JsonValue): JsonValue {
  if (!Array.isArray(document)) return document
  return document.map((item: unknown) => (isInstance(item) ? fieldsOf(item) : item)) as JsonValue
}

/** What a message was made of, without what LangChain keeps for itself. */
function fieldsOf(message: BaseMessage): JsonObject {
  const fields = Object.entries(message).filter(
    ([name, value]) => value !== undefined && !name.startsWith('lc_'),
  )
  // Metadata of providers may hold what JSON does not, such as fields that are undefined.
  return JSON.parse(JSON.stringify(Object.fromEntries(fields))) as JsonObject
}

function messageOf({ type, ...fields }: JsonObject): BaseMessage {
  const Class = CLASSES[type as keyof typeof CLASSES] as new (fields: JsonObject) => BaseMessage
  return new Class(fields)
}
