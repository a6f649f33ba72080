// A LangGraph agent with durable threads: run it again with the same database, and it remembers.
// `graph.invoke(null, thread)` resumes an interrupted run after its last completed step.
// In your own project install the package (docs/guides/own-agent.md) and import from
// '@throughline/core/adapters/langgraph', '@throughline/core/journal' and
// '@throughline/core/store'.
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import OpenAI from 'openai'
import { JournalSaver } from '../packages/core/src/adapters/langgraph.ts'
import { openJournal } from '../packages/core/src/agent/journal.ts'
import { openSqliteStore } from '../packages/core/src/store/index.ts'
import { standIn } from '../packages/server/src/stand-in/index.ts'

// A local stand-in replaces the provider, so that this example runs without an API key. With your
// own key, omit baseURL.
const server = await standIn().start()
const openai = new OpenAI({ apiKey: 'none', baseURL: `${server.url}/v1` })

type Message = OpenAI.ChatCompletionMessageParam
const State = Annotation.Root({
  messages: Annotation<Message[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
const builder = new StateGraph(State)
  .addNode('model', async ({ messages }) => {
    const { choices } = await openai.chat.completions.create({ model: 'stand-in', messages })
    return { messages: choices.map(({ message }) => message) }
  })
  .addEdge(START, 'model')
  .addEdge('model', END)

const store = await openSqliteStore({ path: process.argv[2] ?? 'agent.db' })
const journal = openJournal({ store, name: 'support' })
const graph = builder.compile({ checkpointer: new JournalSaver(journal) })

const thread = { configurable: { thread_id: 'user-7' } }
for (const content of ['The code word is GRANITE.', 'What was the code word?']) {
  const { messages } = await graph.invoke({ messages: [{ role: 'user', content }] }, thread)
  process.stdout.write(`${messages.length} messages: ${messages.at(-1)?.content}\n`)
}

await store.close()
await server.close()
