/** `@throughline/core/adapters/anthropic-runner`: tools of the tool runner of `@anthropic-ai/sdk` 1. */
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import type { DurableRun } from '../agent/durable-run.ts'
import { isThroughlineError } from '../base/throughline-error.ts'

/**
 * The same tool, done once for each call in a run. Of a call that was cut short the model reads that its
 * outcome is unknown; with `repeatable` it runs again.
 *
 * ```ts
 * client.beta.messages.toolRunner({ ...params, tools: [durableRunnable(run, weather)] })
 * ```
 */
export function durableRunnable<Input>(
  run: DurableRun,
  tool: BetaRunnableTool<Input>,
  how: { readonly repeatable?: boolean } = {},
): BetaRunnableTool<Input> {
  return {
    ...tool,
    run: async (input, context) => {
      const id = context?.toolUse?.id ?? JSON.stringify(input)
      try {
        return await run.once(`tool ${id}`, async () => await tool.run(input, context), how)
      } catch (error) {
        if (isThroughlineError(error, 'outcome-unknown')) return error.message
        throw error
      }
    },
  }
}
