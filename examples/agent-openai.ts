// In your own project install the package (docs/guides/own-agent.md) and import from '@throughline/core/agent',
// '@throughline/core/openai' and '@throughline/core/store'.
import OpenAI from 'openai'
import { z } from 'zod'
import { openAgent, tool } from '../packages/core/src/agent/index.ts'
import { openaiChat } from '../packages/core/src/agent/typed-formats/openai.ts'
import { openSqliteStore } from '../packages/core/src/store/index.ts'
import { standIn } from '../packages/server/src/stand-in/index.ts'

// A local stand-in replaces the provider, so that this example runs without an API key. With your
// own key, omit baseURL.
const server = await standIn().start()
const openai = new OpenAI({ apiKey: 'none', baseURL: `${server.url}/v1` })

const weather = tool({
  description: 'The weather in a town.',
  input: z.object({ town: z.string() }),
  execute: ({ town }) => `It rains in ${town}.`,
})

const store = await openSqliteStore({ path: process.argv[2] ?? 'agent.db' })
const agent = await openAgent({
  store,
  name: 'support',
  format: openaiChat,
  contextWindow: 128_000,
  system: 'Be brief.',
  tools: { weather },
  step: ({ request, signal }) =>
    openai.chat.completions.create({ model: 'stand-in', ...request }, { signal }),
})

const session = agent.session('session-1')
for (const text of [
  'The code word is GRANITE.',
  'use weather {"town": "Bergen"}',
  'What was the code word?',
]) {
  const answer = await session.ask(text)
  process.stdout.write(`${answer.kind === 'answered' ? answer.text : answer.kind}\n`)
}

await agent.close()
await store.close()
await server.close()
