/** `@throughline/core/adapters/langchain`: middleware for `createAgent` of `langchain` (1.2 and later). */
import { ToolMessage } from '@langchain/core/messages'
import { createMiddleware } from 'langchain'
import { type CompactMessagesOptions, compactMessages } from '../agent/compact-messages.ts'
import type { DurableRun } from '../agent/durable-run.ts'
import { langchain } from '../agent/typed-formats/langchain.ts'
import { isThroughlineError } from '../base/throughline-error.ts'

/**
 * Makes what the model is sent fit. The state of the graph keeps every message, and no tool message is
 * sent without its call.
 *
 * ```ts
 * createAgent({ model, tools, middleware: [compactMiddleware({ contextWindow: 200_000 })] })
 * ```
 */
export function compactMiddleware(options: CompactMessagesOptions) {
  return createMiddleware({
    name: 'ThroughlineCompaction',
    wrapModelCall: async (request, handler) => {
      const { messages } = await compactMessages(langchain, request.messages, options)
      return await handler({ ...request, messages })
    },
  })
}

/**
 * Runs each tool call once: one that ended does not run again when the graph does, and of one that was cut
 * short the model reads that its outcome is unknown. `runOf` gives the run of a thread.
 *
 * ```ts
 * durableToolsMiddleware((thread) => journal.run(thread, messageId))
 * ```
 */
export function durableToolsMiddleware(
  runOf: (threadId: string) => DurableRun,
  { repeatable = [] }: { readonly repeatable?: readonly string[] } = {},
) {
  return createMiddleware({
    name: 'ThroughlineDurableTools',
    wrapToolCall: async (request, handler) => {
      const { id = request.toolCall.name, name } = request.toolCall
      const { configurable = {} } = request.runtime as { configurable?: { thread_id?: string } }
      let made: Awaited<ReturnType<typeof handler>> | undefined
      const work = async () => {
        made = await handler(request)
        // A command changes the graph; it is made again, and only messages are kept.
        if (!ToolMessage.isInstance(made)) return null
        return { content: made.content, status: made.status ?? 'success' }
      }
      try {
        const how = { repeatable: repeatable.includes(name) }
        const kept = await runOf(configurable.thread_id ?? 'thread').once(`tool ${id}`, work, how)
        if (made !== undefined) return made
        if (kept === null) return await handler(request)
        return new ToolMessage({ tool_call_id: id, name, ...kept })
      } catch (error) {
        if (!isThroughlineError(error, 'outcome-unknown')) throw error
        return new ToolMessage({ tool_call_id: id, name, content: error.message, status: 'error' })
      }
    },
  })
}
