import { readFileSync } from 'node:fs'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { checkWire } from '../../message/dialects/check/check.ts'
import { openMemoryStore } from '../../store/memory/open.ts'
import { openAgent } from '../agent.ts'
import { compactMessages } from '../compact-messages.ts'
import { tool } from '../tool.ts'
import { type GeminiContent, gemini } from './gemini.ts'

const recorded: GeminiContent[] = JSON.parse(
  readFileSync(
    new URL('../../../../../test/fixtures/gemini/contents.json', import.meta.url),
    'utf8',
  ),
)
const long: GeminiContent[] = Array.from({ length: 60 }, (_, number) => ({
  role: number % 2 === 0 ? 'user' : 'model',
  parts: [{ text: `${number}: ${'The river is wide and slow here. '.repeat(30)}` }],
}))

describe('the format of Gemini', () => {
  it('is compacted to contents that the provider accepts, with the newest unchanged', async () => {
    const asked: GeminiContent = { role: 'user', parts: [{ text: 'And now?' }] }
    const history = [...long, ...recorded.slice(0, 4), asked]
    const result = await compactMessages(gemini, history, { targetTokens: 4_000 })
    expectTypeOf(result.messages).toEqualTypeOf<GeminiContent[]>()
    expect(result).toMatchObject({ kind: 'compacted', by: 'digest' })
    expect(checkWire('gemini', JSON.parse(JSON.stringify({ contents: result.messages })))).toEqual(
      [],
    )
    expect(result.messages.slice(-2)).toEqual([recorded[3], asked])
    expect(JSON.stringify(result.messages)).toContain('"thoughtSignature":"c2lnbmF0dXJlLTE="')
    const again = await compactMessages(gemini, result.messages, { targetTokens: 4_000 })
    expect(again.kind).toBe('unchanged')
    expect(again.messages).toBe(result.messages)
  })

  it('accepts calls without ids from an agent, and returns each with its response and its signature', async () => {
    const store = openMemoryStore()
    const requests: GeminiContent[][] = []
    await using agent = await openAgent({
      ...{ store, name: 'mine', format: gemini, contextWindow: 32_000 },
      tools: {
        weather: tool({
          description: 'The weather in a town.',
          input: z.object({ town: z.string() }),
          execute: ({ town }) => ({ town, rain: true }),
        }),
      },
      step({ request }) {
        requests.push(request.contents)
        const isAnswered = request.contents.at(-1)?.parts?.[0]?.functionResponse !== undefined
        const call = { functionCall: { name: 'weather', args: { town: 'Bergen' } } }
        const parts = isAnswered ? [{ text: 'It rains.' }] : [{ ...call, thoughtSignature: 'c2ln' }]
        return { candidates: [{ content: { role: 'model', parts } }] }
      },
    })
    expect(await agent.session('ana').ask('Does it rain?')).toMatchObject({ text: 'It rains.' })
    const name = 'weather'
    expect(requests[1]?.slice(1)).toEqual([
      {
        role: 'model',
        parts: [{ functionCall: { name, args: { town: 'Bergen' } }, thoughtSignature: 'c2ln' }],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name, response: { output: '{"town":"Bergen","rain":true}' } } },
        ],
      },
    ])
    await agent.close()
    await store.close()
  })
})
