import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  aiMessage,
  anthropicBlock,
  anthropicMessage,
  canonical,
  chatMessage,
  contentOf,
  json,
  responsesItem,
  text,
  thing,
} from '../../../test/support/foreign.ts'
import type { JsonValue } from '../../base/json.ts'
import { aiSdk } from './ai-sdk.ts'
import { anthropic } from './anthropic.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'

const around = thing(
  {},
  { model: text, tools: json, system: contentOf(anthropicBlock), instructions: text },
)

const cases = [
  { codec: openaiChat, message: chatMessage, key: 'messages' },
  { codec: anthropic, message: anthropicMessage, key: 'messages' },
  { codec: aiSdk, message: aiMessage, key: 'messages' },
  { codec: openaiResponses, message: responsesItem, key: 'input' },
] as const

describe.each(cases)('$codec.name documents', ({ codec, message, key }) => {
  const list = fc.array<JsonValue>(message, { maxLength: 6 })

  it('come back as they were when they are bare arrays', () => {
    fc.assert(
      fc.property(list, (document) => {
        expect(canonical(codec.format(codec.parse(document)))).toBe(canonical(document))
      }),
      { numRuns: 300 },
    )
  })

  it('come back as they were when they are request objects', () => {
    fc.assert(
      fc.property(list, around, (messages, fields) => {
        const document = { ...fields, [key]: messages }
        expect(canonical(codec.format(codec.parse(document)))).toBe(canonical(document))
      }),
      { numRuns: 300 },
    )
  })
})
