import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import AnthropicClient from '@anthropic-ai/sdk'
import { tool as aiTool, generateText } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openAgent, tool } from '../../../packages/core/src/agent/index.ts'
import { aiSdk } from '../../../packages/core/src/agent/typed-formats/ai-sdk.ts'
import { anthropic } from '../../../packages/core/src/agent/typed-formats/anthropic.ts'
import {
  openaiChat,
  openaiResponses,
} from '../../../packages/core/src/agent/typed-formats/openai.ts'
import { openMemoryStore } from '../../../packages/core/src/store/index.ts'
import { standIn } from '../../../packages/server/src/stand-in/index.ts'

const weather = tool({
  description: 'The weather in a town.',
  input: z.object({ town: z.string() }),
  execute: ({ town }) => `It rains in ${town}.`,
})
const store = openMemoryStore()
const options = { store, contextWindow: 128_000, system: 'Be brief.', tools: { weather } }
const model = 'stand-in'
let server: Awaited<ReturnType<ReturnType<typeof standIn>['start']>>

beforeAll(async () => {
  server = await standIn().start()
})
afterAll(async () => {
  await store.close()
  await server.close()
})

/** The stand-in holds each request against the rules of its provider, and refuses what breaks one. */
describe('an agent with system text and a tool, over the real client of', () => {
  it('Chat Completions', async () => {
    const openai = new OpenAI({ apiKey: 'none', baseURL: `${server.url}/v1`, maxRetries: 0 })
    await using agent = await openAgent({
      ...{ ...options, name: 'chat', format: openaiChat },
      step: ({ request, signal, delta }) => {
        const stream = openai.chat.completions.stream({ model, ...request }, { signal })
        stream.on('content', delta)
        return stream.finalChatCompletion()
      },
    })
    await converse(agent)
  })

  it('Responses', async () => {
    const openai = new OpenAI({ apiKey: 'none', baseURL: `${server.url}/v1`, maxRetries: 0 })
    await using agent = await openAgent({
      ...{ ...options, name: 'responses', format: openaiResponses },
      step: ({ request, signal }) => openai.responses.create({ model, ...request }, { signal }),
    })
    await converse(agent)
  })

  it('Anthropic Messages', async () => {
    const client = new AnthropicClient({ apiKey: 'none', baseURL: server.url, maxRetries: 0 })
    await using agent = await openAgent({
      ...{ ...options, name: 'anthropic', format: anthropic },
      step: ({ request, signal }) =>
        client.messages.create({ model, max_tokens: 1_000, ...request }, { signal }),
    })
    await converse(agent)
  })

  it('the AI SDK', async () => {
    const provider = createOpenAICompatible({ name: model, baseURL: `${server.url}/v1` })
    await using agent = await openAgent({
      ...{ ...options, name: 'ai-sdk', format: aiSdk },
      step: ({ request, signal }) =>
        generateText({
          model: provider(model),
          ...request,
          tools: { weather: aiTool({ inputSchema: weather.input }) },
          abortSignal: signal,
        }),
    })
    await converse(agent)
  })
})

interface Asked {
  readonly name: string
  session(id: string): {
    ask(text: string): Promise<{ readonly kind: string; readonly text?: string }>
  }
}

async function converse(agent: Asked): Promise<void> {
  const session = agent.session(`with-${agent.name}`)
  const [, called, recalled] = [
    await session.ask('The code word is GRANITE.'),
    await session.ask('use weather {"town": "Bergen"}'),
    await session.ask('What was the code word?'),
  ]
  // Whatever a library makes of such a call, the model reads what is wrong with it.
  const wrong = await session.ask('use weather {"town": 5}')
  expect(wrong).toMatchObject({ kind: 'answered', text: expect.stringContaining('not valid') })
  expect(called).toMatchObject({
    kind: 'answered',
    text: expect.stringContaining('It rains in Bergen.'),
  })
  expect(recalled).toMatchObject({ kind: 'answered', text: expect.stringContaining('GRANITE') })
}
