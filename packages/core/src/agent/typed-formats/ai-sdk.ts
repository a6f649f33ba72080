/** `@throughline/core/ai-sdk`: the format with the types of the `ai` (6 or 7) that you have. */
import type { AssistantModelMessage, ModelMessage, ToolModelMessage } from 'ai'
import { openaiChatDialect } from '../../message/dialects/openai-chat.ts'
import { aiSdkFormat } from '../../message/formats/ai-sdk/ai-sdk.ts'
import { repairPairs } from '../../message/pairing.ts'
import { type Format, makeFormat, splitSystem } from './format.ts'

type ResponseMessage = AssistantModelMessage | ToolModelMessage

export interface AiSdk {
  readonly message: ModelMessage
  /** Tools stay yours: give them to the call without `execute`. */
  readonly request: { system?: string; messages: ModelMessage[] }
  /** The result of `generateText`, or `{ response: await stream.response }`. */
  readonly reply:
    | {
        readonly response: { readonly messages: readonly ResponseMessage[] }
        readonly responseMessages?: readonly ResponseMessage[]
      }
    | readonly ResponseMessage[]
}

/** `ModelMessage`s of the AI SDK: `generateText({ model, ...request })`. */
export const aiSdk: Format<AiSdk> = /* @__PURE__ */ makeFormat<AiSdk>({
  codec: aiSdkFormat,
  dialect: openaiChatDialect,
  // The AI SDK's package for each provider knows what it accepts, such as its sealed reasoning.
  legal: (messages) => repairPairs(messages).messages,
  family: 'generic',
  request(messages) {
    const { system, rest } = splitSystem(messages)
    return {
      ...(system !== '' && { system }),
      messages: aiSdkFormat.format({ format: 'ai-sdk', messages: rest, notes: [] }),
    }
  },
  itemsOf(reply) {
    const { response, responseMessages } = reply as {
      readonly response?: { readonly messages?: unknown }
      readonly responseMessages?: unknown
    }
    // Of several steps, 7 has all messages here, and in `response` those of the last one.
    const messages = Array.isArray(reply) ? reply : (responseMessages ?? response?.messages)
    return Array.isArray(messages) ? messages.filter((message) => !isRejection(message)) : null
  },
})

/** The marks with which the AI SDK (7, then 6) reports that it ran no tool. */
const REJECTED =
  /^(?:AI_InvalidToolInputError|AI_NoSuchToolError|Invalid input for tool|Model tried to call unavailable tool)/

/**
 * The AI SDK itself answers calls with wrong input or of unknown tools. No tool ran, so the calls
 * stay open and the agent answers them.
 */
function isRejection({ role, content }: ResponseMessage): boolean {
  if (role !== 'tool') return false
  return content.every((part) => {
    const output = part.type === 'tool-result' ? part.output : undefined
    return output?.type === 'error-text' && REJECTED.test(output.value)
  })
}
