// The route of a chat built with the AI SDK's `useChat`; in Next.js it is app/api/chat/route.ts. A
// request repeated after a crash or a lost connection gets the stored answer: the model is not
// called twice, and no tool runs twice. `regenerate()` is such a repeat; `regenerate({ messageId
// })` requests another answer.
// In your own project install the package (docs/guides/own-agent.md) and import from
// '@throughline/core/adapters/ai-sdk', '@throughline/core/journal' and '@throughline/core/store'.
import { createHash } from 'node:crypto'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  consumeStream,
  convertToModelMessages,
  createUIMessageStreamResponse,
  stepCountIs,
  streamText,
  tool,
  toUIMessageStream,
  validateUIMessages,
  wrapLanguageModel,
} from 'ai'
import { z } from 'zod'
import { compactStep, durableModel, durableTools } from '../packages/core/src/adapters/ai-sdk.ts'
import { openJournal } from '../packages/core/src/agent/journal.ts'
import { openSqliteStore } from '../packages/core/src/store/index.ts'
import { standIn } from '../packages/server/src/stand-in/index.ts'

// A local stand-in replaces the provider, so that this example runs without an API key.
const server = await standIn().start()
const provider = createOpenAICompatible({ name: 'stand-in', baseURL: `${server.url}/v1` })

const store = await openSqliteStore({ path: process.argv[2] ?? 'agent.db' })
const journal = openJournal({ store, name: 'chat' })
const weather = tool({
  description: 'The weather in a town.',
  inputSchema: z.object({ town: z.string() }),
  execute: ({ town }) => {
    process.stdout.write(`looking at the sky of ${town}\n`)
    return `It rains in ${town}.`
  },
})

const Chat = z.object({
  id: z.string(),
  messageId: z.string().optional(),
  messages: z.array(z.unknown()),
})

export async function POST(request: Request): Promise<Response> {
  // Check here that the chat belongs to the user who sent the request.
  const { id, messageId, ...sent } = Chat.parse(await request.json())
  const messages = await validateUIMessages(sent)
  const key = createHash('sha256')
    .update(JSON.stringify([messages, messageId]))
    .digest('hex')
  const run = journal.run(id, key)
  const tools = durableTools(run, { weather })
  const result = streamText({
    model: wrapLanguageModel({ model: provider('stand-in'), middleware: durableModel(run) }),
    messages: await convertToModelMessages(messages, { tools }),
    tools,
    stopWhen: stepCountIs(10),
    prepareStep: compactStep({ contextWindow: 128_000 }),
  })
  const stream = toUIMessageStream({ stream: result.stream, tools })
  // Read to the end even if the browser disconnects, so that the answer is stored.
  return createUIMessageStreamResponse({ stream, consumeSseStream: consumeStream })
}

// The rest sends a request as `useChat` would, and exits; run it again, and the tool does not run.
// Omit it from your own route.
if (import.meta.main) {
  const parts = [{ type: 'text', text: 'use weather {"town": "Bergen"}' }]
  const body = JSON.stringify({ id: 'chat-1', messages: [{ id: 'm1', role: 'user', parts }] })
  const response = await POST(new Request('http://localhost/api/chat', { method: 'POST', body }))
  process.stdout.write(await response.text())
  await store.close()
  await server.close()
}
