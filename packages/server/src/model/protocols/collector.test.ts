import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '#core/base/json'
import type { Message } from '#core/message/message'
import type { ModelRoute } from '../routes/route.ts'
import { anthropicProtocol, withCacheMarks } from './anthropic.ts'
import { chatProtocol } from './chat.ts'
import { googleProtocol } from './google.ts'
import { type ModelProtocol, splice } from './protocol.ts'
import { codexProtocol, responsesProtocol } from './responses.ts'

const route: ModelRoute = {
  name: 'main',
  provider: 'openai-chat',
  baseUrl: 'http://127.0.0.1:1',
  credential: { kind: 'none' },
  model: 'some-model',
}
const ask: Message = { role: 'user', parts: [{ type: 'text', text: 'hi' }] }

it('a route for strict servers sends alternating user and assistant messages', () => {
  const rolesOn = (at: ModelRoute) => {
    const messages: Message[] = [
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      ask,
      ask,
    ]
    const { messages: sent } = JSON.parse(`{${chatProtocol.writeMembers({ messages }, at)}}`)
    return sent.map(({ role }: { role: string }) => role)
  }
  expect(rolesOn({ ...route, dialect: 'strict' })).toEqual(['system', 'user'])
  expect(rolesOn(route)).toEqual(['system', 'user', 'user'])
})

function collect(protocol: ModelProtocol, events: readonly JsonValue[], isWhole = true) {
  const collector = protocol.collector()
  const items = events.flatMap((event) => collector.take(event) ?? [])
  return { reply: collector.message({ isWhole }), items, collector }
}

/** The request that carries the reply back, with results for its calls. */
function wireOf(protocol: ModelProtocol, reply: Message | null, model = route.model): JsonObject {
  const calls = reply?.role === 'assistant' ? reply.parts : []
  const results = calls.flatMap((part) =>
    part.type === 'tool-call'
      ? [
          {
            type: 'tool-result' as const,
            callId: part.id,
            output: [{ type: 'text', text: 'ok' }] as const,
          },
        ]
      : [],
  )
  const answer: Message[] = results.length > 0 ? [{ role: 'tool', parts: results }] : []
  const messages = [ask, ...(reply === null ? [] : [reply]), ...answer, ask]
  const members = protocol.writeMembers({ messages }, { ...route, model })
  return JSON.parse(`{${members}}`) as JsonObject
}

describe('Responses', () => {
  const items: readonly JsonObject[] = [
    { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAA+/=' },
    { type: 'compaction', encrypted_content: 'no id here', extra: { b: 1, a: [2.5] } },
    { id: 'x_1', type: 'item_of_next_year', '2': 'b', data: null },
    {
      id: 'msg_1',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello.', annotations: [], logprobs: [] }],
    },
    {
      id: 'fc_1',
      type: 'function_call',
      status: 'completed',
      call_id: 'call_1',
      name: 'read',
      arguments: '{ "path" : "a.txt" }',
    },
  ]
  const events = items.map((item, output_index) => ({
    type: 'response.output_item.done',
    output_index,
    item,
  }))

  it('items are returned unchanged and in order, including unknown ones', () => {
    const { reply, items: opaque } = collect(responsesProtocol, events)
    expect(opaque).toEqual([items[1], items[2]])
    const input = wireOf(responsesProtocol, reply)['input'] as readonly JsonObject[]
    expect(input.slice(1, 6).map(sortless)).toEqual(items.map(sortless))
    expect(JSON.stringify(input)).toContain(JSON.stringify(items[1]))
    expect(JSON.stringify(input)).toContain('"{ \\"path\\" : \\"a.txt\\" }"')
  })

  it('a cut-off answer keeps its text and no call', () => {
    const half = { type: 'response.output_text.delta', item_id: 'm', delta: 'And then' }
    const call = events.at(-1) ?? {}
    const { reply } = collect(responsesProtocol, [events[0] ?? {}, call, half], false)
    expect(reply?.parts.map((part) => part.type)).toEqual(['reasoning', 'text'])
    expect(reply?.parts.at(-1)).toMatchObject({ text: 'And then' })
  })

  it('detect an answer that ends under another id', () => {
    const named = (type: string, id: string) => ({ type, response: { id } })
    const good = [named('response.created', 'a'), named('response.completed', 'a')]
    expect(collect(responsesProtocol, good).collector.fault).toBeUndefined()
    const bad = [named('response.created', 'a'), named('response.completed', 'b')]
    expect(collect(responsesProtocol, bad).collector.fault).toBe('mixed-answers')
  })

  it('put the system text beside the items for Codex, and never omit it', () => {
    const system: Message = { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] }
    const wire = JSON.parse(`{${codexProtocol.writeMembers({ messages: [system, ask] }, route)}}`)
    expect(wire.instructions).toBe('Be brief.')
    expect(JSON.stringify(wire.input)).not.toContain('Be brief.')
    expect(wireOf(codexProtocol, null)['instructions']).toBe('You are a helpful assistant.')
  })
})

describe('Anthropic', () => {
  const blocks: readonly JsonObject[] = [
    { type: 'thinking', thinking: 'Let me see.', signature: 'EvUB+/=' },
    { type: 'redacted_thinking', data: 'xx' },
    {
      type: 'compaction',
      content: 'So far.',
      signature: 's',
      encrypted_content: 'e',
      tool_changes: [],
    },
    { type: 'block_of_next_year', payload: { b: 1, a: null } },
    { type: 'text', text: 'Hello there.', citations: null },
    { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a.txt' } },
  ]
  const deltas: { readonly [type: string]: readonly JsonObject[] } = {
    thinking: [
      { type: 'thinking_delta', thinking: 'Let me ' },
      { type: 'thinking_delta', thinking: 'see.' },
      { type: 'signature_delta', signature: 'EvUB+/=' },
    ],
    compaction: [{ type: 'compaction_delta', content: 'So far.', encrypted_content: 'e' }],
    text: [
      { type: 'text_delta', text: 'Hello ' },
      { type: 'text_delta', text: 'there.' },
    ],
    tool_use: [
      { type: 'input_json_delta', partial_json: '{"path":' },
      { type: 'input_json_delta', partial_json: '"a.txt"}' },
    ],
  }
  const starts: { readonly [type: string]: JsonObject } = {
    thinking: { thinking: '', signature: '' },
    compaction: { content: 'So far.', encrypted_content: null },
    text: { text: '' },
    tool_use: { input: {} },
  }
  const events = blocks.flatMap((block, index): readonly JsonObject[] => [
    {
      type: 'content_block_start',
      index,
      content_block: { ...block, ...starts[String(block['type'])] },
    },
    ...(deltas[String(block['type'])] ?? []).map((delta) => ({
      type: 'content_block_delta',
      index,
      delta,
    })),
    { type: 'content_block_stop', index },
  ])

  it('blocks are returned unchanged and in order, including unknown ones', () => {
    const { reply, items } = collect(anthropicProtocol, events)
    expect(items).toEqual([blocks[2], blocks[3]])
    const messages = wireOf(anthropicProtocol, reply)['messages'] as readonly JsonObject[]
    expect(JSON.stringify(messages[1]?.['content'])).toBe(JSON.stringify(blocks))
  })

  it('a cut-off answer keeps its text, but no partial reasoning and no call', () => {
    const cut = events.findIndex(({ delta }) => delta === deltas['tool_use']?.[1])
    const inText = events.findIndex(({ delta }) => delta === deltas['text']?.[1])
    expect(
      collect(anthropicProtocol, events.slice(0, cut), false).reply?.parts.at(-1),
    ).toMatchObject({
      type: 'text',
      text: 'Hello there.',
    })
    expect(
      collect(anthropicProtocol, events.slice(0, inText), false).reply?.parts.at(-1),
    ).toMatchObject({
      type: 'text',
      text: 'Hello ',
    })
    expect(collect(anthropicProtocol, events.slice(0, 2), false).reply).toBeNull()
  })

  it('the input of a call that is not JSON is kept unchanged', () => {
    const broken = [
      {
        type: 'content_block_start',
        content_block: { type: 'tool_use', id: 'a', name: 'b', input: {} },
      },
      { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{"pa' } },
      { type: 'content_block_stop' },
    ]
    expect(collect(anthropicProtocol, broken).reply?.parts[0]).toMatchObject({ input: '{"pa' })
  })

  it('reports the input tokens before the answer', () => {
    const usage = { input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 1 }
    const { collector } = collect(anthropicProtocol, [
      { type: 'message_start', message: { usage } },
    ])
    expect(collector.usage).toMatchObject({ inputTokens: 105, cacheReadTokens: 100 })
  })

  it('cache marks follow the system text and the last two messages of the user', () => {
    const wire = {
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'a' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'two' },
            { type: 'text', text: 'three' },
          ],
        },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: 'four' },
      ],
    }
    const mark = { cache_control: { type: 'ephemeral' } }
    expect(withCacheMarks(wire)).toEqual({
      system: [{ type: 'text', text: 'Be brief.', ...mark }],
      messages: [
        wire.messages[0],
        wire.messages[1],
        {
          role: 'user',
          content: [
            { type: 'text', text: 'two' },
            { type: 'text', text: 'three', ...mark },
          ],
        },
        wire.messages[3],
        { role: 'user', content: [{ type: 'text', text: 'four', ...mark }] },
      ],
    })
  })
})

describe('chat', () => {
  const chunk = (delta: JsonObject, id = 'c1') => ({ id, choices: [{ index: 0, delta }] })

  it('joins text, reasoning, calls and extra fields of servers', () => {
    const { reply } = collect(chatProtocol, [
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'Let me ' }),
      chunk({
        reasoning_content: 'see.',
        reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Let ' }],
      }),
      chunk({
        reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'me.', signature: 's' }],
      }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo.' }),
      chunk({
        tool_calls: [
          { index: 0, id: 'a', type: 'function', function: { name: 'read', arguments: '' } },
        ],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
      chunk({
        tool_calls: [
          { index: 1, id: 'b', type: 'function', function: { name: 'list', arguments: '{}' } },
        ],
      }),
      chunk({ tool_calls: [{ index: 0, function: { name: 'read', arguments: ' 1}' } }] }),
    ])
    const [, answer] = wireOf(chatProtocol, reply)['messages'] as readonly JsonObject[]
    expect(answer).toEqual({
      role: 'assistant',
      content: 'Hello.',
      reasoning_content: 'Let me see.',
      reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Let me.', signature: 's' }],
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'read', arguments: '{"a": 1}' } },
        { id: 'b', type: 'function', function: { name: 'list', arguments: '{}' } },
      ],
    })
  })

  it('detects text under another id, and tolerates servers that number every chunk', () => {
    const mixed = [chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({ content: 'c' }, 'c2')]
    expect(collect(chatProtocol, mixed).collector.fault).toBe('mixed-answers')
    const numbered = ['1', '2', '3', '4'].map((id) => chunk({ content: id }, id))
    expect(collect(chatProtocol, numbered).collector.fault).toBeUndefined()
  })

  it('survives any event', () => {
    const odd: readonly JsonValue[] = [null, 1, 'x', [], {}, { choices: 1 }, { choices: [null] }]
    for (const protocol of [chatProtocol, responsesProtocol, anthropicProtocol, googleProtocol]) {
      expect(collect(protocol, odd).reply).toBeNull()
    }
  })
})

describe('Google', () => {
  const event = (...parts: JsonObject[]) => ({
    candidates: [{ content: { role: 'model', parts } }],
  })
  const events = [
    event({ text: 'Hm', thought: true }),
    event({ text: 'Hel' }),
    event({ text: 'lo.' }, { functionCall: { name: 'read', args: { path: 'a' } } }),
    event({ executableCode: { language: 'PYTHON', code: '1' } }),
  ]

  it('joins text and keeps calls and unknown parts', () => {
    const { reply, items } = collect(googleProtocol, events)
    expect(reply?.parts.map((part) => part.type)).toEqual([
      'reasoning',
      'text',
      'tool-call',
      'opaque',
    ])
    expect(items).toEqual([{ executableCode: { language: 'PYTHON', code: '1' } }])
  })

  it('returns the signature of a call with that call only', () => {
    const signed = { functionCall: { name: 'read', args: {} }, thoughtSignature: 'c2VhbA==' }
    const second = { functionCall: { name: 'list', args: {} } }
    const { reply } = collect(googleProtocol, [event(signed, second)])
    const wire = JSON.stringify(wireOf(googleProtocol, reply, 'gemini-3-pro'))
    expect(wire.match(/"thoughtSignature":"[^"]*"/g)).toEqual(['"thoughtSignature":"c2VhbA=="'])
    expect(wire).not.toContain('skip_thought')
    expect(wire.indexOf('c2VhbA==')).toBeLessThan(wire.indexOf('"list"'))
    // No other provider receives it.
    expect(JSON.stringify(wireOf(chatProtocol, reply, 'm'))).not.toContain('c2VhbA==')
    expect(JSON.stringify(wireOf(anthropicProtocol, reply, 'm'))).not.toContain('c2VhbA==')
  })

  it('calls are returned with a signature if the model requires one', () => {
    const { reply } = collect(googleProtocol, events)
    const signature = (model: string) => JSON.stringify(wireOf(googleProtocol, reply, model))
    expect(signature('gemini-3-pro')).toContain('"thoughtSignature":"skip_thought')
    expect(signature('gemini-2.5-pro')).not.toContain('thoughtSignature')
  })
})

describe('splice', () => {
  it('replaces the placeholder if it occurs exactly once', () => {
    const cut = { placeholder: '"a":[1]', members: '"b":"$&"' }
    expect(splice('{"x":0,"a":[1],"y":2}', cut)).toBe('{"x":0,"b":"$&","y":2}')
    expect(splice('{"x":0}', cut)).toBeUndefined()
    expect(splice('{"a":[1],"z":{"a":[1]}}', cut)).toBeUndefined()
  })
})

/** Items that we parse are rewritten field by field; the order of fields may differ. */
function sortless(value: JsonObject | undefined): JsonObject {
  return Object.fromEntries(Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))
}
