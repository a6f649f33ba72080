/**
 * A program that pays once for every order with Anthropic's tool runner. It is started again and again on one
 * store until it is done.
 */
import { randomUUID } from 'node:crypto'
import Anthropic from '@anthropic-ai/sdk'
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages'
import {
  durableFetch,
  durableRunnable,
} from '../../../packages/core/src/adapters/anthropic-runner.ts'
import { openJournal } from '../../../packages/core/src/agent/journal.ts'
import { openLoop } from '../../../packages/core/src/agent/open-loop.ts'
import { anthropic } from '../../../packages/core/src/agent/typed-formats/anthropic.ts'
import { openSqliteStore } from '../../../packages/core/src/store/index.ts'
import { ORDERS } from '../questions.ts'
import { host, isNoted, note, path, pay } from './effects.ts'

const payTool: BetaRunnableTool<{ order: string }> = {
  ...{ name: 'pay', description: 'Pays for an order.', type: 'custom' },
  input_schema: { type: 'object', properties: { order: { type: 'string' } } },
  run: pay,
  parse: (input) => input as { order: string },
}

/** Asked again, it makes another call with another id, as models do. */
async function model(_url: unknown, init?: RequestInit): Promise<Response> {
  const { messages } = JSON.parse(String(init?.body)) as { messages: MessageParam[] }
  const isAnswered = JSON.stringify(messages.at(-1)).includes('tool_result')
  const order = /order-\d/.exec(JSON.stringify(messages))?.[0] ?? ''
  const call = { type: 'tool_use', id: `toolu_${randomUUID()}`, name: 'pay', input: { order } }
  return Response.json({
    ...{ id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model: 'payer' },
    content: [isAnswered ? { type: 'text', text: 'Done.' } : call],
    stop_reason: isAnswered ? 'end_turn' : 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  })
}

const store = await openSqliteStore({ path })
const journal = openJournal({ store, name: 'payer' })
const loop = await openLoop({ store, name: 'payer', format: anthropic, contextWindow: 32_000 })
for (const order of ORDERS) {
  const run = journal.run('orders', order)
  const isBare = host.endsWith('bare')
  const client = new Anthropic({ apiKey: 'none', fetch: isBare ? model : durableFetch(run, model) })
  const input = `Pay for ${order}.`
  const runner = client.beta.messages.toolRunner({
    ...{ model: 'payer', max_tokens: 100, messages: [{ role: 'user', content: input }] },
    tools: [isBare ? payTool : durableRunnable(run, payTool)],
  })
  await runner
  const made = runner.params.messages.slice(1) as MessageParam[]
  await loop.session('orders').record({ key: order, input, made })
  if (!isNoted(`done ${order}`)) note(`done ${order}`)
}
await loop.close()
await store.close()
note('all')
