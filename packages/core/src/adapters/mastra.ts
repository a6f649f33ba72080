/** `@throughline/core/adapters/mastra`: a processor of `@mastra/core` 1. */
import type { ModelMessage } from 'ai'
import { type CompactMessagesOptions, compactMessages } from '../agent/compact-messages.ts'
import { aiSdk } from '../agent/typed-formats/ai-sdk.ts'

/** What Mastra needs of a processor. Its types are written out, because the package takes 85 MB. */
export interface MastraProcessor {
  readonly id: string
  processLLMRequest<Prompt extends readonly object[]>(request: {
    readonly prompt: Prompt
  }): Promise<{ prompt: Prompt } | undefined>
}

/**
 * For `inputProcessors` of an agent: makes each prompt fit. Memory, threads and the page keep every message.
 *
 * ```ts
 * new Agent({ …, inputProcessors: [compactProcessor({ contextWindow: 200_000 })] })
 * ```
 */
export function compactProcessor(options: CompactMessagesOptions): MastraProcessor {
  return {
    id: 'throughline-compaction',
    async processLLMRequest<Prompt extends readonly object[]>({ prompt }: { prompt: Prompt }) {
      // A prompt of the AI SDK's providers differs from its messages in nothing that is read here.
      const messages = prompt as unknown as readonly ModelMessage[]
      const result = await compactMessages(aiSdk, messages, options)
      if (result.kind !== 'compacted') return undefined
      const inParts = result.messages.map(({ role, content, ...rest }) => {
        const isText = typeof content === 'string' && role !== 'system'
        return { role, content: isText ? [{ type: 'text', text: content }] : content, ...rest }
      })
      return { prompt: inParts as unknown as Prompt }
    },
  }
}
