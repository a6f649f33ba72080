import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { createAgent, fakeModel, tool } from 'langchain'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openJournal } from '../agent/journal.ts'
import type { Store } from '../store/contract.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { compactMiddleware, durableToolsMiddleware } from './langchain.ts'

const opened: Store[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

function longHistory(): BaseMessage[] {
  return Array.from({ length: 30 }, (_, n) => [
    new HumanMessage(`Question ${n}: ${'words '.repeat(80)}`),
    new AIMessage({ content: '', tool_calls: [{ id: `c${n}`, name: 'look', args: {} }] }),
    new ToolMessage({ tool_call_id: `c${n}`, content: `Result ${n}. ${'more '.repeat(40)}` }),
    new AIMessage(`Answer ${n}.`),
  ]).flat()
}

describe('middleware of LangChain', () => {
  it('sends the model no tool message without its call, and leaves the state unchanged', async () => {
    const model = fakeModel().respond(new AIMessage('Done.'))
    const agent = createAgent({
      ...{ model, tools: [], middleware: [compactMiddleware({ contextWindow: 4_000 })] },
    })
    const messages = [...longHistory(), new HumanMessage('And now?')]
    const state = await agent.invoke({ messages })
    expect(state.messages).toHaveLength(messages.length + 1)
    const sent: readonly BaseMessage[] = model.calls[0]?.messages ?? []
    expect(sent.length).toBeLessThan(messages.length / 2)
    expect(sent.at(-1)?.text).toBe('And now?')
    const calls = new Set(
      sent
        .flatMap((message) => (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []))
        .map(({ id }) => id),
    )
    for (const message of sent) {
      if (ToolMessage.isInstance(message)) expect(calls.has(message.tool_call_id)).toBe(true)
    }
    // What stays is the very message, not a copy that lacks what a format cannot say.
    expect(messages).toContain(sent.at(-2))
  })

  it('runs a tool call once when the graph runs again', async () => {
    const store = openMemoryStore()
    opened.push(store)
    let paid = 0
    const pay = tool(() => `paid ${++paid}`, {
      ...{ name: 'pay', description: 'Pays.', schema: z.object({}) },
    })
    const runAgain = async () => {
      const journal = openJournal({ store, name: 'chain' })
      const call = { id: 'c1', name: 'pay', args: {} }
      const model = fakeModel()
        .respond(new AIMessage({ content: '', tool_calls: [call] }))
        .respond(new AIMessage('Done.'))
      const runOf = (thread: string) => journal.run(thread, 'message-1')
      const middleware = [durableToolsMiddleware(runOf)]
      const agent = createAgent({ model, tools: [pay], middleware })
      const asked = { messages: [new HumanMessage('Pay.')] }
      const { messages } = await agent.invoke(asked, { configurable: { thread_id: 't' } })
      return messages.find((message) => ToolMessage.isInstance(message))?.text
    }
    expect([await runAgain(), await runAgain()]).toEqual(['paid 1', 'paid 1'])
    expect(paid).toBe(1)
  })
})
