/** `@throughline/core/ai-sdk`: the format with the types of the `ai` (6 or 7) that you have. */
import type { AssistantModelMessage, ModelMessage, ToolModelMessage } from 'ai'
import { openaiChatDialect } from '../../message/dialects/openai-chat.ts'
import { aiSdkFormat } from '../../message/formats/ai-sdk/ai-sdk.ts'
import { type Format, makeFormat, splitSystem } from './format.ts'

type ResponseMessage = AssistantModelMessage | ToolModelMessage

export interface AiSdk {
  readonly message: ModelMessage
  /** Tools stay yours: give them to the call without `execute`. */
  readonly request: { system?: string; messages: ModelMessage[] }
  /** What `generateText` resolves to, or `{ response: await stream.response }`. */
  readonly reply:
    | { readonly response: { readonly messages: readonly ResponseMessage[] } }
    | readonly ResponseMessage[]
}

/** `ModelMessage`s of the AI SDK: `generateText({ model, ...request })`. */
export const aiSdk: Format<AiSdk> = /* @__PURE__ */ makeFormat<AiSdk>({
  codec: aiSdkFormat,
  dialect: openaiChatDialect,
  family: 'generic',
  request(messages) {
    const { system, rest } = splitSystem(messages)
    return {
      ...(system !== '' && { system }),
      messages: aiSdkFormat.format({ format: 'ai-sdk', messages: rest, notes: [] }),
    }
  },
  itemsOf(reply) {
    if (Array.isArray(reply)) return reply
    return (reply as { response?: { messages?: unknown } }).response?.messages ?? null
  },
})
