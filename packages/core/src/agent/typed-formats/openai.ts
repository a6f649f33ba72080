/** `@throughline/core/openai`: formats with the types of the `openai` that you have installed. */
import type {
  ChatCompletion,
  ChatCompletionAssistantMessageParam,
  ChatCompletionFunctionTool,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type {
  FunctionTool,
  Response,
  ResponseInputItem,
  ResponseOutputItem,
} from 'openai/resources/responses/responses'
import { openaiChatDialect } from '../../message/dialects/openai-chat.ts'
import { openaiResponsesDialect } from '../../message/dialects/openai-responses.ts'
import { openaiChatFormat } from '../../message/formats/openai-chat/openai-chat.ts'
import { openaiResponsesFormat } from '../../message/formats/openai-responses/openai-responses.ts'
import { type Format, makeFormat, splitSystem } from './format.ts'

export interface OpenAIChat {
  readonly message: ChatCompletionMessageParam
  readonly request: {
    messages: ChatCompletionMessageParam[]
    tools?: ChatCompletionFunctionTool[]
  }
  readonly reply: ChatCompletion | ChatCompletionMessage | ChatCompletionAssistantMessageParam
}

/**
 * Chat Completions of `openai`:
 * `openai.chat.completions.create({ model, ...request })`.
 */
export const openaiChat: Format<OpenAIChat> = /* @__PURE__ */ makeFormat<OpenAIChat>({
  codec: openaiChatFormat,
  dialect: openaiChatDialect,
  family: 'openai',
  request: (messages, tools) => ({
    messages: openaiChatFormat.format({ format: 'openai-chat', messages, notes: [] }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        function: { name, description, parameters: schema },
      })),
    }),
  }),
  itemsOf(reply) {
    const { choices } = reply as Partial<ChatCompletion>
    const message = choices === undefined ? reply : choices[0]?.message
    return message === undefined ? null : [withoutBlanks(message)]
  },
})

/** A response contains nulls and empty lists that a request may not. */
function withoutBlanks(message: unknown): object {
  const isBlank = (value: unknown) =>
    value === null || value === undefined || (Array.isArray(value) && value.length === 0)
  return Object.fromEntries(
    Object.entries(message as object).filter(
      ([key, value]) => key === 'content' || !isBlank(value),
    ),
  )
}

export interface OpenAIResponses {
  readonly message: ResponseInputItem
  readonly request: { instructions?: string; input: ResponseInputItem[]; tools?: FunctionTool[] }
  readonly reply: Response | readonly ResponseOutputItem[]
}

/** Responses of `openai`: `openai.responses.create({ model, ...request })`. */
export const openaiResponses: Format<OpenAIResponses> = /* @__PURE__ */ makeFormat<OpenAIResponses>(
  {
    codec: openaiResponsesFormat,
    dialect: openaiResponsesDialect,
    family: 'openai',
    request(messages, tools) {
      const { system, rest } = splitSystem(messages)
      return {
        ...(system !== '' && { instructions: system }),
        input: openaiResponsesFormat.format({
          ...{ format: 'openai-responses', messages: rest, notes: [] },
        }),
        ...(tools.length > 0 && {
          tools: tools.map(({ name, description, schema }) => ({
            ...{ type: 'function', name, description, parameters: schema, strict: false },
          })),
        }),
      }
    },
    itemsOf: (reply) =>
      Array.isArray(reply) ? reply : ((reply as Partial<Response>).output ?? null),
  },
)
