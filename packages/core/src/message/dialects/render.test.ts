import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversation, messageList } from '../../../../../test/support/generators.ts'
import { tries } from '../../../../../test/support/seeded-random.ts'
import type { JsonValue } from '../../base/json.ts'
import type { Codec } from '../codec.ts'
import { DIALECTS } from '../dialect.ts'
import { anthropicFormat } from '../formats/anthropic/anthropic.ts'
import { openaiChatFormat } from '../formats/openai-chat/openai-chat.ts'
import { openaiResponsesFormat } from '../formats/openai-responses/openai-responses.ts'
import type { Message } from '../message.ts'
import { checkWire } from './check/check.ts'
import { normalize } from './normalize.ts'
import { render } from './render.ts'

describe.each(DIALECTS)('render for %s', (dialect) => {
  it('breaks no rule for any messages', () => {
    fc.assert(
      fc.property(messageList(), (messages) => {
        expect(checkWire(dialect, render(messages, dialect))).toEqual([])
      }),
      { numRuns: tries(600) },
    )
  })

  it('breaks no rule for messages of a well-behaved agent', () => {
    fc.assert(
      fc.property(conversation(), (messages) => {
        expect(checkWire(dialect, render(messages, dialect))).toEqual([])
      }),
      { numRuns: tries(200) },
    )
  })
})

describe.each(DIALECTS)('normalize for %s', (dialect) => {
  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(messageList(), (messages) => {
        const once = normalize(messages, dialect)
        expect(normalize(once, dialect)).toBe(once)
      }),
      { numRuns: tries(400) },
    )
  })
})

const CODECS: readonly (Codec & { readonly roles: readonly string[] })[] = [
  { ...openaiChatFormat, roles: ['system', 'developer', 'user', 'assistant', 'tool', 'function'] },
  { ...openaiResponsesFormat, roles: ['system', 'developer', 'user', 'assistant'] },
  { ...anthropicFormat, roles: ['user', 'assistant', 'system'] },
]

/** Malformed requests, generated from words that the formats use. */
function foreignRequest(roles: readonly string[]): fc.Arbitrary<JsonValue> {
  const words = fc.constantFrom<JsonValue>(
    ...['user', 'assistant', 'tool', 'function', 'system', 'developer', 'text', 'message', 'file'],
    ...['tool_use', 'tool_result', 'thinking', 'redacted_thinking', 'server_tool_use', 'image_url'],
    ...['function_call', 'function_call_output', 'reasoning', 'compaction', 'custom_tool_call'],
    ...[
      'computer_call',
      'computer_call_output',
      'input_text',
      'output_text',
      'input_audio',
      'refusal',
    ],
    ...['a', 'b', '', ' ', '\ud800', '{"x":1}', null, true, 7],
  )
  const key = fc.constantFrom(
    ...['type', 'role', 'content', 'text', 'id', 'call_id', 'tool_call_id', 'tool_use_id', 'name'],
    ...['input', 'arguments', 'function', 'tool_calls', 'function_call', 'output', 'thinking'],
    ...[
      'signature',
      'data',
      'is_error',
      'source',
      'image_url',
      'file',
      'refusal',
      'audio',
      'summary',
    ],
  )
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      { weight: 3, arbitrary: words },
      { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
      {
        weight: 2,
        arbitrary: fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
      },
    ),
  }))
  const call = fc.record(
    {
      id: words,
      type: words,
      function: fc.record({ name: words, arguments: value }),
      custom: value,
    },
    { requiredKeys: ['id'], noNullPrototype: true },
  )
  const part = fc.oneof(
    value,
    fc.record(
      {
        type: words,
        text: words,
        id: words,
        tool_use_id: words,
        name: words,
        input: value,
        content: value,
        signature: words,
        thinking: words,
      },
      { requiredKeys: ['type'], noNullPrototype: true },
    ),
  )
  const item = fc.record(
    {
      role: fc.constantFrom(...roles),
      type: words,
      content: fc.oneof(words, fc.array(part, { maxLength: 3 }), value),
      tool_calls: fc.array(fc.oneof(call, value), { maxLength: 2 }),
      tool_call_id: words,
      call_id: words,
      name: words,
      arguments: words,
      input: words,
      output: value,
      id: words,
      function_call: value,
    },
    { requiredKeys: ['role'], noNullPrototype: true },
  )
  const bare = fc.record(
    { type: words, call_id: words, id: words, name: words, arguments: words, output: words },
    { requiredKeys: ['type'], noNullPrototype: true },
  )
  return fc.array(roles.includes('tool') ? item : fc.oneof(item, bare), { maxLength: 8 })
}

describe.each(CODECS)('messages read by $name', (codec) => {
  it('break no rule of any dialect, however they were spelled', () => {
    fc.assert(
      fc.property(foreignRequest(codec.roles), (items) => {
        const { messages } = codec.parse(items)
        for (const dialect of DIALECTS) {
          expect(checkWire(dialect, render(messages, dialect))).toEqual([])
        }
      }),
      { numRuns: tries(600) },
    )
  })

  it('come back as the same array from their own dialect when nothing is wrong with them', () => {
    const [dialect] = DIALECTS.filter((name) => name === codec.name)
    if (dialect === undefined) throw new Error(`${codec.name} is no dialect`)
    const plain = conversation().map((list) => list.filter(({ role }) => role !== 'handoff'))
    fc.assert(
      fc.property(plain, (messages: readonly Message[]) => {
        const wire = render(messages, dialect)
        const read = codec.parse(wire).messages
        expect(normalize(read, dialect)).toBe(read)
        expect(render(read, dialect)).toEqual(wire)
      }),
      { numRuns: tries(200) },
    )
  })
})
