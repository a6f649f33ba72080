// In your own project install the package (docs/guides/own-agent.md) and import from '@throughline/core/agent',
// '@throughline/core/ai-sdk' and '@throughline/core/store'.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { tool as aiTool, streamText } from 'ai'
import { z } from 'zod'
import { openAgent, tool } from '../packages/core/src/agent/index.ts'
import { aiSdk } from '../packages/core/src/agent/typed-formats/ai-sdk.ts'
import { openSqliteStore } from '../packages/core/src/store/index.ts'
import { standIn } from '../packages/server/src/stand-in/index.ts'

// A local stand-in replaces the provider, so that this example runs without an API key.
const server = await standIn().start()
const provider = createOpenAICompatible({ name: 'stand-in', baseURL: `${server.url}/v1` })

const weather = tool({
  description: 'The weather in a town.',
  input: z.object({ town: z.string() }),
  execute: ({ town }) => `It rains in ${town}.`,
})

const store = await openSqliteStore({ path: process.argv[2] ?? 'agent.db' })
const agent = await openAgent({
  store,
  name: 'support',
  format: aiSdk,
  contextWindow: 128_000,
  system: 'Be brief.',
  tools: { weather },
  async step({ request, signal, delta }) {
    const stream = streamText({
      model: provider('stand-in'),
      ...request,
      // No `execute` here: the agent runs the tool once its call is durable.
      tools: { weather: aiTool({ inputSchema: weather.input }) },
      abortSignal: signal,
    })
    for await (const text of stream.textStream) delta(text)
    return { response: await stream.response }
  },
})

const answer = await agent.session('session-1').ask('use weather {"town": "Bergen"}')
process.stdout.write(`${answer.kind === 'answered' ? answer.text : JSON.stringify(answer)}\n`)

await agent.close()
await store.close()
await server.close()
