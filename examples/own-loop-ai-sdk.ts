// In your own project install the package (docs/guides/own-agent.md) and import from 'throughline/runtime' and so on.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, type ToolSet, tool } from 'ai'
import { z } from 'zod'
import { openSqliteStore } from '../packages/core/src/store/index.ts'
import { standIn } from '../packages/server/src/proof/stand-in/index.ts'
import { openLoop } from '../packages/server/src/runtime/index.ts'

// A model server that needs no key stands in for the provider.
const server = await standIn().start()
const provider = createOpenAICompatible({ name: 'stand-in', baseURL: `${server.url}/v1` })

const store = await openSqliteStore({ path: process.argv[2] ?? 'own-loop.db' })
const loop = await openLoop({ store, agent: 'mine', format: 'ai-sdk', windowTokens: 128_000 })
await loop.admit('session-2', { role: 'user', content: 'use weather {"town": "Bergen"}' })

// No `execute`: a tool runs only when the call is durable, and that is for the loop to say.
const weather = tool({ inputSchema: z.object({ town: z.string() }) })
// This project's compiler settings are stricter than the package's types.
const tools = { weather } as unknown as ToolSet

for await (const step of loop) {
  const { response, text } = await generateText({
    model: provider('stand-in'),
    messages: step.messages as never,
    tools,
    abortSignal: step.signal,
  })
  const calls = await step.reply(response.messages as never)
  for (const call of calls) call.done(`It rains (${JSON.stringify(call.input)}).`)
  if (calls.length > 0) continue
  process.stdout.write(`${text}\n`)
  break
}

await loop.close()
await store.close()
await server.close()
