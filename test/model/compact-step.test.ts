import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, type ModelMessage, stepCountIs, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compactStep } from '../../packages/core/src/adapters/ai-sdk.ts'
import { standIn } from '../../packages/server/src/stand-in/index.ts'

describe('compactStep', () => {
  it('makes every step of a run of the AI SDK fit, and leaves no result without its call', async () => {
    const server = await standIn().start()
    const sent: { messages: readonly object[] }[] = []
    const provider = createOpenAICompatible({
      name: 'stand-in',
      baseURL: `${server.url}/v1`,
      fetch: (input, init) => {
        sent.push(JSON.parse(String(init?.body)))
        return fetch(input, init)
      },
    })
    const history = Array.from({ length: 60 }, (_, number): ModelMessage => {
      const content = `${number}: ${'The river is wide and slow here. '.repeat(20)}`
      return { role: number % 2 === 0 ? 'user' : 'assistant', content }
    })
    const messages: ModelMessage[] = [
      ...history,
      { role: 'user', content: 'use weather {"town": "Bergen"}' },
    ]
    const { text } = await generateText({
      model: provider('stand-in'),
      messages,
      tools: {
        weather: tool({
          inputSchema: z.object({ town: z.string() }),
          execute: ({ town }) => `It rains in ${town}.`,
        }),
      },
      prepareStep: compactStep({ targetTokens: 4_000 }),
      stopWhen: stepCountIs(4),
    })
    await server.close()
    // The stand-in refuses a request that breaks a rule of its provider.
    expect(text).toContain('It rains in Bergen.')
    expect(sent).toHaveLength(2)
    for (const request of sent) {
      expect(request.messages.length).toBeLessThan(30)
      expect(JSON.stringify(request.messages).length / 3).toBeLessThan(8_000)
    }
    const [first, second] = sent.map((request) => JSON.stringify(request.messages[0]))
    expect(second).toBe(first)
  })
})
