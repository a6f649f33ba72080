// The AI SDK runs its own loop, and a journal records each step: kill it anywhere, run it again
// with the same message id, and no tool runs twice.
// In your own project install the package (docs/guides/own-agent.md) and import from
// '@throughline/core/agent', '@throughline/core/ai-sdk', '@throughline/core/adapters/ai-sdk',
// '@throughline/core/journal' and '@throughline/core/store'.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, stepCountIs, tool, wrapLanguageModel } from 'ai'
import { z } from 'zod'
import { durableModel, durableTools } from '../packages/core/src/adapters/ai-sdk.ts'
import { openLoop } from '../packages/core/src/agent/index.ts'
import { openJournal } from '../packages/core/src/agent/journal.ts'
import { aiSdk } from '../packages/core/src/agent/typed-formats/ai-sdk.ts'
import { openSqliteStore } from '../packages/core/src/store/index.ts'
import { standIn } from '../packages/server/src/stand-in/index.ts'

// A local stand-in replaces the provider, so that this example runs without an API key.
const server = await standIn().start()
const provider = createOpenAICompatible({ name: 'stand-in', baseURL: `${server.url}/v1` })

const weather = tool({
  description: 'The weather in a town.',
  inputSchema: z.object({ town: z.string() }),
  execute: ({ town }) => `It rains in ${town}.`,
})

const store = await openSqliteStore({ path: process.argv[2] ?? 'agent.db' })
const run = openJournal({ store, name: 'support' }).run('user-7', 'message-1')
const input = 'use weather {"town": "Bergen"}'
const result = await generateText({
  model: wrapLanguageModel({ model: provider('stand-in'), middleware: durableModel(run) }),
  tools: durableTools(run, { weather }),
  prompt: input,
  stopWhen: stepCountIs(10),
})

// Needed for the session's history, search and compaction.
const loop = await openLoop({ store, name: 'support', format: aiSdk, contextWindow: 128_000 })
const session = loop.session('user-7')
await session.record({ key: 'message-1', input, made: result.responseMessages })
process.stdout.write(`${result.text}\n${(await session.history()).length} entries\n`)

await loop.close()
await store.close()
await server.close()
