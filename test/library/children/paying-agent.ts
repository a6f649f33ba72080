/**
 * An agent whose model pays once for every message. Started again and again on one store until it was
 * answered everything: `node paying-agent.ts STORE EFFECTS [LINES]`. It writes what its tool did, and what
 * was acknowledged, one line each, before it goes on; after so many LINES it kills itself with SIGKILL.
 */
import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { z } from 'zod'
import { openAgent, tool } from '../../../packages/core/src/agent/index.ts'
import { openaiChat } from '../../../packages/core/src/agent/typed-formats/openai.ts'
import { openSqliteStore } from '../../../packages/core/src/store/index.ts'
import { messagesOf } from '../questions.ts'

const [, , path = '', effects = '', lines] = process.argv
let left = Number(lines ?? Number.POSITIVE_INFINITY)
const note = (line: string) => {
  appendFileSync(effects, `${line}\n`)
  if (--left === 0) process.kill(process.pid, 'SIGKILL')
}

const pay = tool({
  description: 'Pays for an order.',
  input: z.object({ order: z.string() }),
  async execute({ order }, { key }) {
    note(`begin ${order} ${key}`)
    await pause(3)
    note(`end ${order} ${key}`)
    return `paid ${order}`
  },
})

type Said = Extract<ChatCompletionMessageParam, { role: 'assistant' }>

const store = await openSqliteStore({ path })
const agent = await openAgent({
  ...{ store, name: 'payer', format: openaiChat, contextWindow: 32_000, tools: { pay } },
  step({ request: { messages } }): Said {
    const last = messages.at(-1)
    const text = String(last?.content)
    if (last?.role === 'tool') return { role: 'assistant', content: text }
    const order = text.replace('pay for ', '')
    const call = { name: 'pay', arguments: JSON.stringify({ order }) }
    return {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `pay-${order}`, type: 'function', function: call }],
    }
  },
})

await Promise.all(
  messagesOf().map(async ({ session, texts }) => {
    for (const text of texts) {
      const sent = await agent.session(session).send(text, { key: `${session}-${text}` })
      if (sent.kind !== 'sent') throw new Error(sent.why)
      if (!sent.isDuplicate) note(`ack ${session} ${text}`)
      const { kind } = await agent.session(session).answer(sent)
      note(`${kind} ${session} ${text}`)
    }
  }),
)
await agent.close()
await store.close()
note('all')
