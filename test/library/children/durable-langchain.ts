/**
 * A program that pays once for every order with an agent of LangChain on a checkpointer (`langchain`) or with a
 * graph of its own (`langgraph`). It is started again and again on one store until it is done.
 */
import { randomUUID } from 'node:crypto'
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createAgent, FakeToolCallingModel, tool } from 'langchain'
import { z } from 'zod'
import { durableToolsMiddleware } from '../../../packages/core/src/adapters/langchain.ts'
import { JournalSaver } from '../../../packages/core/src/adapters/langgraph.ts'
import { openJournal } from '../../../packages/core/src/agent/journal.ts'
import { openLoop } from '../../../packages/core/src/agent/open-loop.ts'
import { langchain } from '../../../packages/core/src/agent/typed-formats/langchain.ts'
import { openSqliteStore } from '../../../packages/core/src/store/index.ts'
import { ORDERS } from '../questions.ts'
import { host, isNoted, note, path, pay } from './effects.ts'

const store = await openSqliteStore({ path })
const journal = openJournal({ store, name: 'payer' })
const loop = await openLoop({ store, name: 'payer', format: langchain, contextWindow: 32_000 })
const checkpointer = new JournalSaver(journal)

/** Asked again, it makes another call with another id, as models do. */
function answerTo(messages: readonly BaseMessage[]): AIMessage {
  if (ToolMessage.isInstance(messages.at(-1))) return new AIMessage('Done.')
  const order = /order-\d/.exec(messages.map(({ text }) => text).join())?.[0] ?? ''
  return new AIMessage({
    content: '',
    tool_calls: [{ id: randomUUID(), name: 'pay', args: { order }, type: 'tool_call' }],
  })
}

class Payer extends FakeToolCallingModel {
  override async _generate(messages: BaseMessage[]) {
    return { generations: [{ text: '', message: answerTo(messages) }], llmOutput: {} }
  }
  override bindTools(): this {
    return this
  }
}

function agentFor(order: string) {
  const description = 'Pays for an order.'
  const payTool = tool(pay, { name: 'pay', description, schema: z.object({ order: z.string() }) })
  const durable = durableToolsMiddleware((thread) => journal.run(thread, order))
  return createAgent({
    ...{ model: new Payer(), tools: [payTool], checkpointer },
    middleware: host === 'langchain' ? [durable] : [],
  })
}

function graphFor(order: string) {
  const run = journal.run(order, order)
  return new StateGraph(MessagesAnnotation)
    .addNode('model', ({ messages }) => ({ messages: [answerTo(messages)] }))
    .addNode('pay', async ({ messages }) => {
      const [call] = (messages.at(-1) as AIMessage).tool_calls ?? []
      const id = call?.id ?? ''
      const content = await run
        .once(`tool ${id}`, () => pay({ order }))
        .catch((error: Error) => error.message)
      return { messages: [new ToolMessage({ tool_call_id: id, content })] }
    })
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? 'pay' : '__end__',
    )
    .addEdge('pay', 'model')
    .compile({ checkpointer })
}

for (const order of ORDERS) {
  const graph = host === 'langgraph' ? graphFor(order) : agentFor(order).graph
  // A tool may run only when the call is durable.
  const config = { configurable: { thread_id: order }, durability: 'sync' } as const
  const input = `Pay for ${order}.`
  const begun = await checkpointer.getTuple(config)
  const asked = begun === undefined ? { messages: [new HumanMessage(input)] } : null
  const { messages } = (await graph.invoke(asked as never, config)) as { messages: BaseMessage[] }
  await loop.session('orders').record({ key: order, input, made: messages.slice(1) })
  if (!isNoted(`done ${order}`)) note(`done ${order}`)
}
await loop.close()
await store.close()
note('all')
