import Anthropic from '@anthropic-ai/sdk'
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import { describe, expect, it } from 'vitest'
import { openJournal } from '../agent/journal.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { durableFetch, durableRunnable } from './anthropic-runner.ts'

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
  it('runs a call once in a run, and reports the result of an interrupted call as unknown', async () => {
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

  it('tells calls without an id apart by their input', async () => {
    const store = openMemoryStore()
    const run = openJournal({ store, name: 'runner' }).run('c', 'k')
    let looked = 0
    const tool = durableRunnable(
      run,
      look(() => `View ${++looked}.`),
    )
    const seen = []
    for (const place of ['here', 'there', 'here']) seen.push(await tool.run({ place }))
    expect(seen).toEqual(['View 1.', 'View 2.', 'View 1.'])
    await store.close()
  })

  it('stores answers of the model, streamed ones too, but no failures', async () => {
    const store = openMemoryStore()
    let asked = 0
    const model = async (_url: unknown, init?: RequestInit) => {
      if (++asked === 1)
        return new Response('busy', { status: 529, headers: { 'retry-after': '0' } })
      const message = {
        ...{ id: `m${asked}`, type: 'message', role: 'assistant', model: 'test', content: [] },
        usage: { input_tokens: 1, output_tokens: 1 },
      }
      if (!String(init?.body).includes('"stream":true')) return Response.json(message)
      const events = [{ type: 'message_start', message }, { type: 'message_stop' }]
      const text = events.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`)
      return new Response(text.join(''), { headers: { 'content-type': 'text/event-stream' } })
    }
    const runAgain = async () => {
      const run = openJournal({ store, name: 'runner' }).run('c', 'k')
      const client = new Anthropic({ apiKey: 'none', fetch: durableFetch(run, model) })
      const request = { ...params, messages: [...question] }
      const first = await client.messages.create(request)
      const second = await client.messages.stream(request).finalMessage()
      return [first.id, second.id]
    }
    expect([await runAgain(), await runAgain()]).toEqual([
      ['m2', 'm3'],
      ['m2', 'm3'],
    ])
    expect(asked).toBe(3)
    await store.close()
  })
})
