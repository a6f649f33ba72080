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
} from '../../../../../test/support/foreign.ts'
import { tries } from '../../../../../test/support/seeded-random.ts'
import type { JsonValue } from '../../base/json.ts'
import { aiSdkFormat } from './ai-sdk/ai-sdk.ts'
import { anthropicFormat } from './anthropic/anthropic.ts'
import { openaiChatFormat } from './openai-chat/openai-chat.ts'
import { openaiResponsesFormat } from './openai-responses/openai-responses.ts'

const around = thing(
  {},
  { model: text, tools: json, system: contentOf(anthropicBlock), instructions: text },
)

const cases = [
  { codec: openaiChatFormat, message: chatMessage, key: 'messages' },
  { codec: anthropicFormat, message: anthropicMessage, key: 'messages' },
  { codec: aiSdkFormat, message: aiMessage, key: 'messages' },
  { codec: openaiResponsesFormat, message: responsesItem, key: 'input' },
] as const

describe('the input of a Responses request', () => {
  const say = (document: JsonValue) => {
    expect(openaiResponsesFormat.reject(document)).toBeUndefined()
    const read = openaiResponsesFormat.parse(document)
    expect(openaiResponsesFormat.format(read)).toEqual(document)
    return read.messages.map(({ role, ...message }) => [role, 'parts' in message && message.parts])
  }

  it('may be one string, the user’s message', () => {
    expect(say({ input: 'hello' })).toEqual([['user', [{ type: 'text', text: 'hello' }]]])
    expect(say({ model: 'm', instructions: 'Be brief.', input: 'hello' })).toMatchObject([
      ['system', [{ text: 'Be brief.' }]],
      ['user', [{ text: 'hello' }]],
    ])
  })

  it('may contain a refusal, as text of the assistant', () => {
    const content = [{ type: 'refusal', refusal: 'I cannot do that.' }]
    expect(say({ input: [{ type: 'message', role: 'assistant', content }] })).toMatchObject([
      ['assistant', [{ type: 'text', text: 'I cannot do that.' }]],
    ])
  })

  it('may give a file by its URL, its bytes or its id, and is written back the same', () => {
    const [url, bytes] = ['https://files.example/a.pdf', 'data:application/pdf;base64,QUJD']
    const fileOf = (fields: { [key: string]: string }) => {
      const content = [{ type: 'input_file', filename: 'a.pdf', ...fields }]
      const [[, parts] = []] = say({ input: [{ type: 'message', role: 'user', content }] })
      return parts
    }
    const file = { type: 'file', name: 'a.pdf' }
    expect(fileOf({ file_url: url })).toMatchObject([{ ...file, source: { kind: 'url', url } }])
    expect(fileOf({ file_data: bytes })).toMatchObject([{ ...file, source: { kind: 'base64' } }])
    expect(fileOf({ file_id: 'f-1' })).toMatchObject([
      { ...file, source: { kind: 'id', id: 'f-1' } },
    ])
  })
})

describe.each(cases)('$codec.name documents', ({ codec, message, key }) => {
  const list = fc.array<JsonValue>(message, { maxLength: 6 })

  it('come back as they were when they are bare arrays', () => {
    fc.assert(
      fc.property(list, (document) => {
        expect(canonical(codec.format(codec.parse(document)))).toBe(canonical(document))
      }),
      { numRuns: tries(300) },
    )
  })

  it('come back as they were when they are request objects', () => {
    fc.assert(
      fc.property(list, around, (messages, fields) => {
        const document = { ...fields, [key]: messages }
        expect(canonical(codec.format(codec.parse(document)))).toBe(canonical(document))
      }),
      { numRuns: tries(300) },
    )
  })
})
