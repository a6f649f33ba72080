/**
 * A program that keeps the loop of the AI SDK and pays once for every order. It is started again and again on
 * one store until it is done.
 */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { durableModel, durableTools } from '../../../packages/core/src/adapters/ai-sdk.ts'
import { openJournal } from '../../../packages/core/src/agent/journal.ts'
import { openLoop } from '../../../packages/core/src/agent/open-loop.ts'
import { aiSdk } from '../../../packages/core/src/agent/typed-formats/ai-sdk.ts'
import { openSqliteStore } from '../../../packages/core/src/store/index.ts'
import { ORDERS } from '../questions.ts'
import { host, isNoted, note, path, pay as payFor } from './effects.ts'

const { generateText, stepCountIs, streamText, tool, wrapLanguageModel }: typeof import('ai') =
  await import(host.startsWith('ai6') ? 'ai6' : 'ai')

const pay = tool({
  description: 'Pays for an order.',
  inputSchema: z.object({ order: z.string() }),
  execute: payFor,
})

/** Asked again, it makes another call with another id, as models do. */
interface Content {
  readonly type: string
  readonly [field: string]: unknown
}
function answerTo(prompt: readonly { readonly role: string; readonly content: unknown }[]) {
  const isCall = prompt.at(-1)?.role !== 'tool'
  const order = /order-\d/.exec(JSON.stringify(prompt))?.[0] ?? ''
  const call = { toolCallId: randomUUID(), toolName: 'pay', input: JSON.stringify({ order }) }
  const content: readonly Content[] = isCall
    ? [{ type: 'tool-call', ...call }]
    : [{ type: 'text', text: 'Done.' }]
  const unified = isCall ? 'tool-calls' : 'stop'
  const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 }
  const usage = { inputTokens: tokens, outputTokens: tokens }
  return { content, finishReason: { unified, raw: unified }, usage, warnings: [] }
}
const model = {
  specificationVersion: host.startsWith('ai6') ? 'v3' : 'v4',
  ...{ provider: 'test', modelId: 'payer', supportedUrls: {} },
  doGenerate: async ({ prompt }: { prompt: never }) => answerTo(prompt),
  async doStream({ prompt }: { prompt: never }) {
    const { content, ...end } = answerTo(prompt)
    const parts = content.flatMap((each) =>
      each.type === 'text'
        ? [
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: each['text'] },
            { type: 'text-end', id: '1' },
          ]
        : [each],
    )
    const stream = new ReadableStream({
      start(out) {
        out.enqueue({ type: 'stream-start', warnings: [] })
        for (const part of parts) out.enqueue(part)
        out.enqueue({ type: 'finish', ...end })
        out.close()
      },
    })
    return { stream }
  },
} as never

const store = await openSqliteStore({ path })
const journal = openJournal({ store, name: 'payer' })
const loop = await openLoop({ store, name: 'payer', format: aiSdk, contextWindow: 32_000 })
for (const order of ORDERS) {
  const run = journal.run('orders', order)
  const isBare = host.endsWith('bare')
  const options = {
    model: isBare ? model : wrapLanguageModel({ model, middleware: durableModel(run) }),
    tools: isBare ? { pay } : durableTools(run, { pay }),
    prompt: `Pay for ${order}.`,
    stopWhen: stepCountIs(5),
  }
  const result = host.endsWith('stream') ? streamText(options) : await generateText(options)
  // Of several steps 6 has all messages in its response, 7 beside it.
  const made = host.startsWith('ai6')
    ? (await result.response).messages
    : await result.responseMessages
  await loop.session('orders').record({ key: order, input: options.prompt, made })
  if (!isNoted(`done ${order}`)) note(`done ${order}`)
}
await loop.close()
await store.close()
note('all')
