import Anthropic from '@anthropic-ai/sdk'
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import { describe, expect, it } from 'vitest'
import { openJournal } from '../agent/journal.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { durableRunnable } from './anthropic-runner.ts'

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

/** A client whose model calls the tool so often, then says that it is done. */
function clientThatCalls(times: number, sent: Sent[]): Anthropic {
  return new Anthropic({
    apiKey: 'none',
    async fetch(_url, init) {
      sent.push(JSON.parse(String(init?.body)) as Sent)
      const isCall = sent.length <= times
      const call = { type: 'tool_use', id: `t${sent.length}`, name: 'look', input: {} }
      return Response.json({
        ...{ id: 'm', type: 'message', role: 'assistant', model: 'test' },
        content: [isCall ? call : { type: 'text', text: 'Done.' }],
        stop_reason: isCall ? 'tool_use' : 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      })
    },
  })
}

const look = (run: () => string): BetaRunnableTool<object> => ({
  ...{ name: 'look', description: 'Looks.', input_schema: { type: 'object' }, type: 'custom' },
  run,
  parse: (input) => input as object,
})

const params = { model: 'test', max_tokens: 100 } as const
const question = [{ role: 'user', content: 'Look around.' }] as const

describe("Anthropic's tool runner", () => {
  it('runs a call once in a run, and says of one that was cut short that it is unknown', async () => {
    const store = openMemoryStore()
    let looked = 0
    const runAgain = async () => {
      const run = openJournal({ store, name: 'runner' }).run('c', 'k')
      const tools = [
        durableRunnable(
          run,
          look(() => `View ${++looked}.`),
        ),
      ]
      const sent: Sent[] = []
      const runner = clientThatCalls(1, sent).beta.messages.toolRunner({
        ...{ ...params, messages: [...question], tools },
      })
      await runner
      return JSON.stringify(sent.at(-1)?.messages.at(-1))
    }
    expect(await runAgain()).toContain('View 1.')
    expect(await runAgain()).toContain('View 1.')
    expect(looked).toBe(1)
    const cut = openJournal({ store, name: 'runner' }).run('c', 'k2')
    const begun = Promise.withResolvers<void>()
    void cut.once('tool t1', () => {
      begun.resolve()
      return new Promise(() => {})
    })
    await begun.promise
    const next = openJournal({ store, name: 'runner' }).run('c', 'k2')
    const toolUse = { type: 'tool_use', id: 't1', name: 'look', input: {} } as const
    const told = await durableRunnable(
      next,
      look(() => 'again'),
    ).run({}, { toolUse, toolUseBlock: toolUse })
    expect(told).toMatch(/not known/)
    await store.close()
  })
})
