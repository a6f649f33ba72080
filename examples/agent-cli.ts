// A terminal agent that remembers: stop it, start it again, and the conversation continues.
// In your own project install the package (docs/guides/own-agent.md) and import from
// '@throughline/core/agent', '@throughline/core/openai' and '@throughline/core/store'.
import { createInterface } from 'node:readline'
import OpenAI from 'openai'
import { openAgent } from '../packages/core/src/agent/index.ts'
import { openaiChat } from '../packages/core/src/agent/typed-formats/openai.ts'
import { openSqliteStore } from '../packages/core/src/store/index.ts'
import { standIn } from '../packages/server/src/stand-in/index.ts'

// A local stand-in replaces the provider, so that this example runs without an API key. With your
// own key, omit baseURL.
const server = await standIn().start()
const openai = new OpenAI({ apiKey: 'none', baseURL: `${server.url}/v1` })

const store = await openSqliteStore({ path: process.argv[2] ?? 'agent.db' })
const agent = await openAgent({
  store,
  name: 'terminal',
  format: openaiChat,
  contextWindow: 128_000,
  step({ request, signal, delta }) {
    const stream = openai.chat.completions.stream({ model: 'stand-in', ...request }, { signal })
    stream.on('content', delta)
    stream.on('content', (text) => process.stdout.write(text))
    return stream.finalChatCompletion()
  },
})

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await agent.session('me').ask(line)
  process.stdout.write(answer.kind === 'failed' ? `${answer.reason}\n` : '\n')
}

await agent.close()
await store.close()
await server.close()
