// OpenAI Agents with a durable session: run it again, and the agent remembers.
// In your own project install the package (docs/guides/own-agent.md) and import from
// '@throughline/core/adapters/openai-agents', '@throughline/core/journal' and
// '@throughline/core/store'.
import { Agent, OpenAIChatCompletionsModel, Runner } from '@openai/agents'
import OpenAI from 'openai'
import { agentsSession } from '../packages/core/src/adapters/openai-agents.ts'
import { openJournal } from '../packages/core/src/agent/journal.ts'
import { openSqliteStore } from '../packages/core/src/store/index.ts'
import { standIn } from '../packages/server/src/stand-in/index.ts'

// A local stand-in replaces the provider, so that this example runs without an API key.
const server = await standIn().start()
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none' })
const model = new OpenAIChatCompletionsModel(client, 'stand-in')

const store = await openSqliteStore({ path: process.argv[2] ?? 'agent.db' })
const journal = openJournal({ store, name: 'support' })
const session = agentsSession(journal, 'user-7', { compact: { contextWindow: 128_000 } })
const agent = new Agent({ name: 'support', instructions: 'Be brief.', model })
const runner = new Runner({ tracingDisabled: true })
await runner.run(agent, 'The code word is GRANITE.', { session })
const result = await runner.run(agent, 'What was the code word?', { session })
process.stdout.write(`${result.finalOutput}\n${(await session.getItems()).length} items\n`)

await store.close()
await server.close()
