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

type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * Keeps each answer of the model under the run's key, so that a run that is started again gets the same
 * calls with the same ids. A streamed answer arrives whole. Give each run a client of its own.
 *
 * ```ts
 * const client = new Anthropic({ fetch: durableFetch(run) })
 * ```
 */
export function durableFetch(run: DurableRun, fetch: Fetch = globalThis.fetch): Fetch {
  let answers = 0
  return async (url, init) => {
    let failed: Response | undefined
    const ask = async () => {
      const response = await fetch(url, init)
      if (!response.ok) {
        failed = response
        throw new Error(`The provider answered ${response.status}.`)
      }
      return { headers: [...response.headers], body: await response.text() }
    }
    try {
      const { headers, body } = await run.once(`model ${answers}`, ask, { repeatable: true })
      answers += 1
      // The text is no longer compressed.
      const plain = headers.filter(([name = '']) => !/^content-(?:encoding|length)$/.test(name))
      return new Response(body, { headers: plain as [string, string][] })
    } catch (error) {
      // The client decides what to repeat; only answers are kept.
      if (failed !== undefined) return failed
      throw error
    }
  }
}
