/** `@throughline/core/adapters/ai-sdk`: for programs that keep the loop of the AI SDK (`ai` 6 or 7). */
import type { ModelMessage } from 'ai'
import { type CompactMessagesOptions, compactMessages } from '../agent/compact-messages.ts'
import { aiSdk } from '../agent/formats/ai-sdk.ts'

/**
 * For `prepareStep` of `generateText` and `streamText`: makes the messages of a step fit. If they
 * cannot fit, they stay unchanged and the provider reports it. Changes only what the model
 * receives.
 *
 * ```ts
 * generateText({ model, messages, tools, prepareStep: compactStep({ contextWindow: 200_000 }) })
 * ```
 */
export function compactStep(
  options: CompactMessagesOptions,
): (step: { readonly messages: ModelMessage[] }) => Promise<{ messages?: ModelMessage[] }> {
  let last: { readonly from: readonly ModelMessage[]; readonly to: ModelMessage[] } | undefined
  return async ({ messages }) => {
    // AI SDK 7 continues from what a step returned; 6 starts each step with all messages again.
    const isLonger = last?.from.every((message, index) => messages[index] === message) === true
    const input =
      last !== undefined && isLonger ? [...last.to, ...messages.slice(last.from.length)] : messages
    const result = await compactMessages(aiSdk, input, options)
    if (result.kind === 'compacted') last = { from: [...messages], to: result.messages }
    return result.messages === messages ? {} : { messages: result.messages }
  }
}
