import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import { EventLines } from '../event-lines.ts'
import { hashUnit } from '../unit.ts'
import { anthropicWire } from './anthropic.ts'
import { chatWire } from './chat.ts'
import { responsesWire } from './responses.ts'
import type { ClientWire } from './wire.ts'

function reply(wire: ClientWire, events: readonly JsonObject[]) {
  const reader = wire.openReply()
  for (const event of events) reader.take(event)
  return reader.reply()
}

const hashes = (wire: ClientWire, items: readonly JsonObject[]) =>
  items.flatMap((item) => wire.read(item).units.map(hashUnit))

describe('a reply as it passes', () => {
  it('has the units with which Anthropic clients send it back', () => {
    const { units, isWhole, usage } = reply(anthropicWire, [
      {
        type: 'message_start',
        message: { usage: { input_tokens: 5, cache_read_input_tokens: 7 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'He' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'llo\n' } },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 't', name: 'Bash', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 2,
        delta: { type: 'input_json_delta', partial_json: '{"a":' },
      },
      {
        type: 'content_block_delta',
        index: 2,
        delta: { type: 'input_json_delta', partial_json: '1}' },
      },
      { type: 'message_delta', usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ])
    const back = {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 't', name: 'Bash', input: { a: 1 } },
      ],
    }
    expect(units.map(hashUnit)).toEqual(hashes(anthropicWire, [back]))
    expect(isWhole).toBe(true)
    expect(usage).toEqual({
      inputTokens: 12,
      cachedTokens: 7,
      cacheWriteTokens: 0,
      outputTokens: 3,
    })
  })

  it('leaves out a call that was cut off, and is not whole', () => {
    const { units, isWhole } = reply(anthropicWire, [
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't', name: 'Bash', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"a"' },
      },
    ])
    expect([units, isWhole]).toEqual([[], false])
  })

  it('has the units with which Responses clients send it back', () => {
    const message = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'a' }],
    }
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"x": 1}' }
    const usage = { input_tokens: 9, input_tokens_details: { cached_tokens: 4 }, output_tokens: 2 }
    const found = reply(responsesWire, [
      { type: 'response.output_item.done', item: { type: 'reasoning', id: 'r' } },
      { type: 'response.output_text.delta', delta: 'a' },
      { type: 'response.output_item.done', item: { ...message, id: 'm', status: 'completed' } },
      { type: 'response.output_item.done', item: { ...call, id: 'fc' } },
      { type: 'response.completed', response: { usage } },
    ])
    expect(found.units.map(hashUnit)).toEqual(hashes(responsesWire, [message, call]))
    expect(found.usage?.cachedTokens).toBe(4)
  })

  it('has the units with which Chat clients send it back', () => {
    const part = (delta: JsonObject, more: JsonObject = {}) => ({ choices: [{ delta, ...more }] })
    const call = (index: number, fields: JsonObject) => ({ tool_calls: [{ index, ...fields }] })
    const found = reply(chatWire, [
      part({ content: 'a' }),
      part(call(0, { id: 'c', function: { name: 'f', arguments: '{"x"' } })),
      part(call(0, { function: { arguments: ':1}' } })),
      part({}, { finish_reason: 'tool_calls' }),
      {
        choices: [],
        usage: {
          ...{ prompt_tokens: 8, completion_tokens: 1 },
          prompt_tokens_details: { cached_tokens: 3 },
        },
      },
    ])
    const named = { name: 'f', arguments: '{"x":1}' }
    const back = { role: 'assistant', content: 'a', tool_calls: [{ id: 'c', function: named }] }
    expect(found.units.map(hashUnit)).toEqual(hashes(chatWire, [back]))
    expect(found.usage).toMatchObject({ inputTokens: 8, cachedTokens: 3, outputTokens: 1 })
  })
})

describe('a value that is nested deeper than the store takes', () => {
  const text = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  const deep = JSON.parse(text) as JsonObject
  const tool = { type: 'tool_use', id: 'c', name: 'f', input: { deep } }
  const call = { id: 'c', function: { name: 'f', arguments: text } }

  it.each([
    ['tool_use', anthropicWire, { type: 'message', content: [tool] }],
    ['a block', anthropicWire, { type: 'message', content: [{ type: 'new', deep }] }],
    ['tool_calls', chatWire, { choices: [{ message: { tool_calls: [call] } }] }],
    [
      'local_shell_call',
      responsesWire,
      { object: 'response', output: [{ type: 'local_shell_call', call_id: 'c', action: deep }] },
    ],
    [
      'a result',
      responsesWire,
      {
        object: 'response',
        output: [{ type: 'function_call_output', call_id: 'c', output: { deep } }],
      },
    ],
  ])('is cut in the record: %s', (_name, wire, document) => {
    const { units } = reply(wire, [document])
    expect(units).toHaveLength(1)
    expect(units.map(hashUnit)).toEqual([expect.any(String)])
    expect(JSON.stringify(units)).toContain('[nested too deep]')
  })
})

describe('EventLines', () => {
  it('reads events from bytes split at any place', () => {
    const bytes = Buffer.from('event: x\ndata: {"a":"ä"}\n\ndata: [DONE]\n\ndata: {"b":2}\n\n')
    for (let at = 0; at <= bytes.length; at += 1) {
      const lines = new EventLines()
      const events = [...lines.take(bytes.subarray(0, at)), ...lines.take(bytes.subarray(at))]
      expect(events).toEqual([{ a: 'ä' }, { b: 2 }])
    }
  })
})

describe('what clients send beside words', () => {
  const data = 'iVBORw0KGgo='
  const image = { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data } }
  const sealed = (provider: string, value: object) => ({ type: 'opaque', provider, value })

  it('is read from the items of OpenAI Responses', () => {
    const url = `data:image/png;base64,${data}`
    const odd = { type: 'input_image', image_url: 'https://a.example/b.png' }
    const content = [{ type: 'input_image', image_url: url }, odd]
    const block = (part: object) => ({ kind: 'block', role: 'user', part })
    expect(responsesWire.read({ role: 'user', content }).units).toMatchObject([
      ...[block(image), block(sealed('openai', odd))],
    ])
    const output = [{ type: 'input_text', text: 'Rain.' }, { image_url: { url } }, 'x']
    const result = { kind: 'result', id: 'c', isError: false }
    const made = (value: unknown) =>
      responsesWire.read({
        ...{ type: 'function_call_output', call_id: 'c', output: value as never },
      }).units
    expect(made(output)).toEqual([{ ...result, output: [{ type: 'text', text: 'Rain.' }, image] }])
    expect(made('')).toEqual([{ ...result, output: [] }])
    expect(made(undefined)).toEqual([{ ...result, output: [] }])
    expect(made({ a: 1 })).toEqual([{ ...result, output: [{ type: 'text', text: '{"a":1}' }] }])
    const call = { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: '*** Begin' }
    expect(responsesWire.read(call).units).toEqual([
      { kind: 'call', id: 'c', name: 'patch', input: {}, inputText: '*** Begin' },
    ])
    const search = { type: 'web_search_call', action: 'x' }
    expect(responsesWire.read({ ...search, id: 'i', status: 'completed' }).units).toMatchObject([
      { kind: 'block', role: 'assistant', part: sealed('openai', search) },
    ])
  })

  it('is read from the blocks of Anthropic', () => {
    const source = { type: 'base64', media_type: 'image/png', data }
    const linked = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }
    const content = [{ type: 'image', source }, { type: 'document', source }, linked]
    const { units, blocks } = anthropicWire.read({ role: 'user', content })
    expect(units).toMatchObject([
      { kind: 'block', role: 'user', part: image },
      { kind: 'block', role: 'user', part: { ...image, type: 'file' } },
      { kind: 'block', role: 'user', part: sealed('anthropic', linked) },
    ])
    expect(blocks).toEqual([0, 1, 2])
    const result = { type: 'tool_result', tool_use_id: 't', content, is_error: true }
    const [read] = anthropicWire.read({ role: 'user', content: [result] }).units
    expect(read).toMatchObject({
      ...{ kind: 'result', id: 't', isError: true },
      output: [image, { ...image, type: 'file' }, sealed('anthropic', linked)],
    })
  })

  it('leaves its notes before a handoff', () => {
    const notes = [{ kind: 'k', text: 'Note.' }]
    expect(JSON.parse(anthropicWire.writeHandoff('Words.', notes))).toEqual({
      ...{ role: 'user' },
      content: ['Note.', 'Words.'].map((text) => ({ type: 'text', text })),
    })
    expect(JSON.parse(responsesWire.writeHandoff('Words.', notes))).toEqual({
      ...{ type: 'message', role: 'user' },
      content: ['Note.', 'Words.'].map((text) => ({ type: 'input_text', text })),
    })
  })
})
