// An agent that cron runs every hour: `0 * * * * node cron-agent.ts`. Each run does the work of one
// hour and exits. The hour is the idempotency key, so a second run gets the same report, and after
// a crash the next run within that hour continues where the first one stopped. The session
// remembers earlier hours.
// In your own project install the package (docs/guides/own-agent.md) and import from
// '@throughline/core/agent', '@throughline/core/openai' and '@throughline/core/store'.
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
  execute: ({ town }) => {
    process.stdout.write(`looking at the sky of ${town}\n`)
    return `It rains in ${town}.`
  },
})

const store = await openSqliteStore({ path: process.argv[2] ?? 'agent.db' })
const agent = await openAgent({
  store,
  name: 'reporter',
  format: openaiChat,
  contextWindow: 128_000,
  tools: { weather },
  step: ({ request, signal }) =>
    openai.chat.completions.create({ model: 'stand-in', ...request }, { signal }),
})

const hour = new Date(process.argv[3] ?? Date.now())
hour.setUTCMinutes(0, 0, 0)
const key = hour.toISOString()
// The text must not change within the hour: the same key with another text is refused.
const report = await agent.session('hourly').ask('use weather {"town": "Bergen"}', { key })
if (report.kind === 'answered') {
  process.stdout.write(`${key}${report.isDuplicate ? ' (again)' : ''}: ${report.text}\n`)
} else {
  process.stderr.write(`${key}: ${JSON.stringify(report)}\n`)
  process.exitCode = 1
}

await agent.close()
await store.close()
await server.close()
