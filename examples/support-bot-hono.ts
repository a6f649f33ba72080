// A support bot for browsers, on Hono. A message is durable when its POST is answered with 202;
// `new EventSource('/chat')` streams the answer and resumes automatically, even after a restart of
// the server.
// In your own project install the package (docs/guides/own-agent.md) and import from
// '@throughline/core/agent', '@throughline/core/adapters/fetch', '@throughline/core/openai' and
// '@throughline/core/store'.
import { once } from 'node:events'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { parse } from 'hono/utils/cookie'
import OpenAI from 'openai'
import { z } from 'zod'
import { chatHandler } from '../packages/core/src/adapters/fetch.ts'
import { openAgent, tool } from '../packages/core/src/agent/index.ts'
import { openaiChat } from '../packages/core/src/agent/typed-formats/openai.ts'
import { openSqliteStore } from '../packages/core/src/store/index.ts'
import { standIn } from '../packages/server/src/stand-in/index.ts'

// A local stand-in replaces the provider, so that this example runs without an API key. With your
// own key, omit baseURL.
const model = await standIn().start()
const openai = new OpenAI({ apiKey: 'none', baseURL: `${model.url}/v1` })

const order = tool({
  description: 'Where an order is.',
  input: z.object({ number: z.int() }),
  execute: ({ number }) => `Order ${number} left the warehouse.`,
})

const store = await openSqliteStore({ path: process.argv[2] ?? 'agent.db' })
const agent = await openAgent({
  store,
  name: 'support',
  format: openaiChat,
  contextWindow: 128_000,
  system: 'You help customers of a shop. Be brief.',
  tools: { order },
  step({ request, signal, delta }) {
    const stream = openai.chat.completions.stream({ model: 'stand-in', ...request }, { signal })
    stream.on('content', delta)
    return stream.finalChatCompletion()
  },
})

// The signed-in user determines the session. Look up the cookie in your own sign-in system.
const signedIn = new Map([['token-of-ana', 'ana']])
const userOf = (request: Request) =>
  signedIn.get(parse(request.headers.get('cookie') ?? '')['token'] ?? '') ?? null
const chat = chatHandler(agent, { sessionOf: userOf })
const app = new Hono().all('/chat', (c) => chat(c.req.raw))
const server = serve({ fetch: app.fetch, port: 0 })
await once(server, 'listening')

// The rest acts as the browser, and exits. Omit it from your own server.
const address = server.address()
const port = typeof address === 'object' ? address?.port : undefined
const headers = { cookie: 'token=token-of-ana', 'content-type': 'application/json' }
const events = await fetch(`http://localhost:${port}/chat`, { headers })
// Each message has a key, so that a message resent after a lost connection counts once.
const message = { text: 'use order {"number": 7}', key: crypto.randomUUID() }
const body = JSON.stringify(message)
const posted = await fetch(`http://localhost:${port}/chat`, { method: 'POST', headers, body })
process.stdout.write(`${posted.status} ${await posted.text()}\n`)
let seen = ''
for await (const text of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
  seen += text
  if (seen.includes('event: turn-ended')) break
}
process.stdout.write(seen)

server.close()
await agent.close()
await store.close()
await model.close()
