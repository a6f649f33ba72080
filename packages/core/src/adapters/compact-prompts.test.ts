import type { ModelMessage } from 'ai'
import { expect, it } from 'vitest'
import { compactMessages } from '../agent/compact-messages.ts'
import { aiSdk } from '../agent/typed-formats/ai-sdk.ts'
import { gemini } from '../agent/typed-formats/gemini.ts'
import { compactRequest } from './adk.ts'
import { compactStep } from './ai-sdk.ts'
import { compactProcessor } from './mastra.ts'

const options = { targetTokens: 2_000 }
const said = (number: number) => `${number}: ${'The river is wide and slow here. '.repeat(20)}`
const talk = (count: number): ModelMessage[] =>
  Array.from({ length: count }, (_, number) => ({
    ...{ role: number % 2 === 0 ? ('user' as const) : ('assistant' as const) },
    content: said(number),
  }))

it('gives ADK the contents of a request compacted', async () => {
  const contents = talk(41).map(({ role, content }) => ({
    role: role === 'user' ? 'user' : 'model',
    parts: [{ text: String(content) }],
  }))
  const { kind, messages } = await compactMessages(gemini, contents, options)
  const request = { contents }
  expect(await compactRequest(options)({ request })).toBeUndefined()
  expect(kind).toBe('compacted')
  expect(request.contents).toEqual(messages)
})

it('gives Mastra a prompt whose texts are parts, and none if nothing was compacted', async () => {
  const { id, processLLMRequest } = compactProcessor(options)
  expect(id).toBe('throughline-compaction')
  const system = { role: 'system' as const, content: 'Be brief.' }
  const parts = { role: 'user' as const, content: [{ type: 'text' as const, text: 'And now?' }] }
  const prompt = [system, ...talk(40), parts]
  const { kind, messages } = await compactMessages(aiSdk, prompt, options)
  expect(kind).toBe('compacted')
  expect(await processLLMRequest({ prompt })).toEqual({
    prompt: messages.map((message) => {
      const isText = typeof message.content === 'string' && message.role !== 'system'
      return isText ? { ...message, content: [{ type: 'text', text: message.content }] } : message
    }),
  })
  expect(messages[0]).toEqual(system)
  expect(messages.at(-1)).toEqual(parts)
  expect(await processLLMRequest({ prompt: [system, parts] })).toBeUndefined()
})

it('gives the AI SDK each step from what the step before sent', async () => {
  const step = compactStep(options)
  expect(await step({ messages: talk(2) })).toEqual({})
  const first = talk(41)
  const sent = await compactMessages(aiSdk, first, options)
  expect(sent.kind).toBe('compacted')
  expect(await step({ messages: first })).toEqual({ messages: sent.messages })
  // Version 6 gives all messages again, and version 7 what the step returned.
  const next: ModelMessage = { role: 'assistant', content: 'The sea.' }
  const continued = [...sent.messages, next]
  expect(await step({ messages: [...first, next] })).toEqual({ messages: continued })
  expect(await step({ messages: continued })).toEqual({})
  // Another conversation has nothing to do with it.
  const other = talk(41).with(0, { role: 'user', content: 'Another one.' })
  const { messages } = await compactMessages(aiSdk, other, options)
  expect(await step({ messages: other })).toEqual({ messages })
})
