/** `@throughline/core/adapters/adk`: a callback of `@google/adk`, Google's Agent Development Kit. */
import { type CompactMessagesOptions, compactMessages } from '../agent/compact-messages.ts'
import { type GeminiContent, gemini } from '../agent/typed-formats/gemini.ts'

/**
 * For `beforeModelCallback` of an `LlmAgent`: makes the contents of each request fit. The session keeps
 * every event.
 *
 * ```ts
 * new LlmAgent({ …, beforeModelCallback: compactRequest({ contextWindow: 1_000_000 }) })
 * ```
 */
export function compactRequest(
  options: CompactMessagesOptions,
): (call: { request: { contents: GeminiContent[] } }) => Promise<undefined> {
  return async ({ request }) => {
    request.contents = (await compactMessages(gemini, request.contents, options)).messages
    return undefined
  }
}
