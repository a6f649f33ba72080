import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '#core/base/json'
import type { Message } from '#core/message/message'
import {
  assistant,
  system,
  toolCall,
  toolResult,
  user,
} from '../../../../../test/support/builders.ts'
import type { ModelRoute } from '../routes/route.ts'
import { anthropicProtocol, withCacheMarks } from './anthropic.ts'
import { chatProtocol } from './chat.ts'
import { googleProtocol } from './google.ts'
import { asReply, keptSize, type ModelProtocol, membersOf } from './protocol.ts'
import { codexProtocol, responsesProtocol } from './responses.ts'

const route = { name: 'main', provider: 'openai-chat', model: 'm' } as ModelRoute
const ask = user('hi')

function collect(protocol: ModelProtocol, events: readonly JsonValue[], isWhole = true) {
  const collector = protocol.collector()
  const items = events.flatMap((event) => collector.take(event) ?? [])
  return { reply: collector.message({ isWhole }), items, collector }
}

function wireOf(protocol: ModelProtocol, messages: readonly Message[], more: object = {}) {
  const { cacheKey, ...at } = more as { cacheKey?: string; model?: string }
  const request = { messages, ...(cacheKey !== undefined && { cacheKey }) }
  return JSON.parse(`{${protocol.writeMembers(request, { ...route, ...at })}}`) as JsonObject
}

it('the size of what is kept is its characters, and eight for each value', () => {
  expect(keptSize('abc')).toBe(11)
  expect([keptSize(5), keptSize(null), keptSize(undefined), keptSize(true)]).toEqual([8, 8, 8, 8])
  expect(keptSize({ a: 'bc', d: ['e', 1] })).toBe(8 + 10 + 8 + 9 + 8)
})

it('members are an object without its braces', () => {
  expect([membersOf({ a: 1, b: ['c'] }), membersOf({})]).toEqual(['"a":1,"b":["c"]', ''])
})

it('a reply without parts is none, and a cut one has no calls', () => {
  const said = assistant('Hm.')
  const both = { ...said, parts: [...said.parts, ...toolCall('a').parts] }
  expect(asReply(undefined, { isWhole: true })).toBeNull()
  expect(asReply({ role: 'assistant', parts: [] }, { isWhole: true })).toBeNull()
  expect(asReply(both, { isWhole: true })).toEqual(both)
  expect(asReply(both, { isWhole: false })).toEqual(said)
  expect(asReply(toolCall('a'), { isWhole: false })).toBeNull()
})

it.each<[string, ModelProtocol, string]>([
  ['chat', chatProtocol, '"messages":[{"role":"user","content":"X"}]'],
  [
    'Responses',
    responsesProtocol,
    '"input":[{"role":"user","content":[{"type":"input_text","text":"X"}]}]',
  ],
  [
    'Codex',
    codexProtocol,
    '"input":[{"role":"user","content":[{"type":"input_text","text":"X"}]}]',
  ],
  [
    'Anthropic',
    anthropicProtocol,
    '"messages":[{"role":"user","content":[{"type":"text","text":"X"}]}]',
  ],
  ['Google', googleProtocol, '"contents":[{"role":"user","parts":[{"text":"X"}]}]'],
])('the placeholder of %s is one message of the user', (_, protocol, text) => {
  expect(protocol.placeholder('X')).toBe(text)
})

describe('Anthropic', () => {
  const block = (content_block: JsonObject) => ({ type: 'content_block_start', content_block })
  const delta = (each: JsonObject) => ({ type: 'content_block_delta', delta: each })
  const stop = { type: 'content_block_stop' }

  it('a request with a cache key has its marks, and one without has none', () => {
    const messages = [system('Be brief.'), ask]
    const marked = { type: 'text', cache_control: { type: 'ephemeral' } }
    expect(wireOf(anthropicProtocol, messages, { cacheKey: 'k' })).toEqual({
      system: [{ ...marked, text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ ...marked, text: 'hi' }] }],
    })
    expect(JSON.stringify(wireOf(anthropicProtocol, messages))).not.toContain('cache_control')
  })

  it('marks nothing where nothing stands', () => {
    expect(withCacheMarks({})).toEqual({ messages: [] })
    const odd = { system: 5, messages: [{ role: 'user', content: [] }, { role: 'user' }] }
    expect(withCacheMarks(odd)).toEqual({
      ...{
        system: [],
        messages: [
          { role: 'user', content: [] },
          { role: 'user', content: [] },
        ],
      },
    })
  })

  it('names the version of each compaction that a request returns, once', () => {
    const opaque = (value: JsonValue): Message => ({
      role: 'assistant',
      parts: [{ type: 'opaque', provider: 'anthropic', value }],
    })
    const headers = (...messages: Message[]) => anthropicProtocol.headers?.({ messages })
    const old = opaque({ type: 'compaction', content: 'a' })
    const signed = opaque({ type: 'compaction', content: 'a', signature: 's' })
    expect(headers(ask, assistant('ok'), opaque({ type: 'other' }), opaque('x'))).toEqual({})
    expect(headers(ask, old, old)).toEqual({ 'anthropic-beta': 'compact-2026-01-12' })
    expect(headers(signed)).toEqual({ 'anthropic-beta': 'compact-2026-09-04' })
    expect(headers(signed, old)).toEqual({
      'anthropic-beta': 'compact-2026-09-04,compact-2026-01-12',
    })
  })

  it('collects citations, and deltas of any kind onto their block', () => {
    const { reply, items } = collect(anthropicProtocol, [
      delta({ type: 'text_delta', text: 'before any block' }),
      block({ type: 'text', text: '' }),
      delta({ type: 'text_delta', text: 'Oak' }),
      delta({ type: 'citations_delta', citation: { url: 'a' } }),
      delta({ type: 'citations_delta' }),
      delta({ type: 'text_delta', text: '.' }),
      stop,
      stop,
      block({ type: 'next_year', note: 'a', count: 1 }),
      delta({ type: 'note_delta', note: 'b', count: 2 }),
      delta({ type: 'compaction_delta', note: 'c' }),
      stop,
    ])
    expect(items).toEqual([{ type: 'next_year', note: 'c', count: 2 }])
    const [, said] = wireOf(anthropicProtocol, [ask, reply as Message, ask])[
      'messages'
    ] as JsonObject[]
    expect(said?.['content']).toEqual([
      { type: 'text', text: 'Oak.', citations: [{ url: 'a' }, null] },
      { type: 'next_year', note: 'c', count: 2 },
    ])
  })

  it('counts the size of blocks and deltas', () => {
    const { collector } = collect(anthropicProtocol, [
      block({ type: 'text', text: '' }),
      delta({ type: 'text_delta', text: 'Oak' }),
      stop,
    ])
    expect(collector.size).toBe(2_048 + (8 + 12 + 8) + (8 + 18 + 11))
  })

  it('counts every kind of token of an answer that has only begun', () => {
    const started = (message: JsonValue) => ({ type: 'message_start', message })
    const usage = {
      ...{ input_tokens: 5, output_tokens: 3 },
      ...{ cache_read_input_tokens: 100, cache_creation_input_tokens: 20 },
    }
    const usageOf = (message: JsonValue) =>
      collect(anthropicProtocol, [started(message)]).collector.usage
    expect(usageOf({ usage })).toEqual({
      ...{ inputTokens: 125, outputTokens: 3, cacheReadTokens: 100, cacheWriteTokens: 20 },
    })
    expect(usageOf({ usage: {} })).toEqual({
      ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    })
    expect([usageOf({}), usageOf(null)]).toEqual([undefined, undefined])
  })

  it('a call without input deltas keeps the input of its start', () => {
    const { reply } = collect(anthropicProtocol, [
      block({ type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } }),
      delta({ type: 'input_json_delta', partial_json: 7 }),
      stop,
    ])
    expect(reply?.parts).toMatchObject([{ type: 'tool-call', id: 'a', input: { at: 1 } }])
  })
})

describe('chat', () => {
  const chunk = (delta: JsonObject, id: JsonValue = 'c1') => ({ id, choices: [{ delta }] })
  const call = (piece: JsonObject) => chunk({ tool_calls: [piece] })
  const answer = (events: readonly JsonValue[]) => {
    const { reply } = collect(chatProtocol, events)
    const results =
      reply?.parts.flatMap((part) =>
        part.type === 'tool-call' ? toolResult(part.id, 'ok').parts : [],
      ) ?? []
    const after: Message[] = results.length > 0 ? [{ role: 'tool', parts: results }] : []
    const messages = [ask, reply as Message, ...after, ask]
    return (wireOf(chatProtocol, messages)['messages'] as JsonObject[])[1]
  }

  it('keeps calls alone, and fields beside an empty content', () => {
    expect(
      answer([
        call({ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }),
      ]),
    ).toEqual({
      ...{ role: 'assistant', content: null },
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
    })
    expect(collect(chatProtocol, [chunk({ role: 'assistant', content: '' })]).reply).toBeNull()
    expect(collect(chatProtocol, [chunk({ refusal: 'No.' })]).reply).not.toBeNull()
  })

  it('puts calls in the order of their numbers, those without a number behind', () => {
    const named = (name: string, more: JsonObject) =>
      call({ id: name, type: 'function', function: { name, arguments: '{}' }, ...more })
    const calls = answer([
      named('c', { index: 2 }),
      named('a', { index: 0 }),
      named('d', {}),
      named('e', { index: 1_000 }),
    ])?.['tool_calls'] as JsonObject[]
    expect(calls.map(({ id }) => id)).toEqual(['a', 'c', 'd', 'e'])
  })

  it('takes no null over what it has, and survives calls that are none', () => {
    const calls = answer([
      call({ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '{"a"' } }),
      call({ index: 0, id: null, function: { name: null, arguments: ':1}' } }),
      call({ index: 0, function: 'x' }),
      chunk({ tool_calls: ['x', null] as JsonValue }),
    ])?.['tool_calls']
    expect(calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
    ])
  })

  it('merges items of lists by number and type, and replaces other fields', () => {
    const detail = (more: JsonObject) => chunk({ reasoning_details: [more] })
    const said = answer([
      chunk({ content: 'Oak.', rank: 1 }),
      chunk({ rank: 2 }),
      detail({ type: 'a', index: 0, text: 'x', data: '1', format: 'f' }),
      detail({ type: 'a', index: 0, text: 'y', data: '2', format: null }),
      detail({ type: 'a', index: 0, summary: 's', signature: 't', format: 'g' }),
      detail({ type: 'a', index: 0, summary: 's', signature: 't' }),
      detail({ type: 'b', index: 0, text: 'z' }),
      detail({ type: 'a', index: 1, text: 'w' }),
      detail({ type: 'a', text: 'v' }),
      detail({ type: 'a', text: 'u' }),
      chunk({ reasoning_details: ['plain'] }),
    ])
    expect(said).toMatchObject({ content: 'Oak.', rank: 2 })
    expect(said?.['reasoning_details']).toEqual([
      { type: 'a', index: 0, text: 'xy', data: '12', format: 'g', summary: 'ss', signature: 'tt' },
      { type: 'b', index: 0, text: 'z' },
      { type: 'a', index: 1, text: 'w' },
      { type: 'a', text: 'v' },
      { type: 'a', text: 'u' },
      'plain',
    ])
  })

  it('counts the size of what came, and of each call', () => {
    const { collector } = collect(chatProtocol, [
      chunk({ content: 'Oak' }),
      call({ index: 0, id: 'a' }),
      call({ index: 0, id: 'a' }),
    ])
    expect(collector.size).toBe(8 + 11 + 2_048 + 2 * (8 + 8 + 8 + 8 + 9))
  })

  it.each([
    ['one other id behind two', ['a', 'a', 'b'], 'mixed-answers'],
    ['another id at once', ['a', 'b', 'c', 'd'], undefined],
    ['another id at once, then the first', ['a', 'b', 'a', 'b'], undefined],
    ['empty ids and none', ['', null, 'a', 7, 'a', 'b'], 'mixed-answers'],
    ['one id', ['a', 'a', 'a'], undefined],
  ])('%s: %j is %s', (_, ids, fault) => {
    const events = ids.map((id) => chunk({ content: 'x' }, id as JsonValue))
    expect(collect(chatProtocol, events).collector.fault).toBe(fault)
  })
})

describe('Responses', () => {
  const done = (item: JsonValue) => ({ type: 'response.output_item.done', item })
  const completed = (response: JsonObject, type = 'response.completed') => ({ type, response })
  const words = (delta: JsonValue, type = 'response.output_text.delta') => ({ type, delta })
  const message = (text: string) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  })

  it.each<[readonly JsonValue[], string | undefined]>([
    [[], undefined],
    [[completed({})], 'stop'],
    [[done(message('Oak.')), completed({ incomplete_details: null })], 'stop'],
    [
      [done({ type: 'function_call', call_id: 'a', name: 'b', arguments: '{}' }), completed({})],
      'tool-calls',
    ],
    [
      [done({ type: 'custom_tool_call', call_id: 'a', name: 'b', input: '' }), completed({})],
      'tool-calls',
    ],
    [[done({ type: 'local_shell_call', call_id: 'a' }), completed({})], 'tool-calls'],
    [
      [completed({ incomplete_details: { reason: 'max_output_tokens' } }, 'response.incomplete')],
      'length',
    ],
    [[completed({ incomplete_details: { reason: 'content_filter' } })], 'content-filter'],
    [[completed({ incomplete_details: { reason: 'steered' } })], 'other'],
  ])('of %j the end is %s', (events, finish) => {
    expect(collect(responsesProtocol, events).collector.finish).toBe(finish)
  })

  it('shows the words of a refusal, and those of a message once', () => {
    const textsOf = (...events: JsonValue[]) =>
      collect(responsesProtocol, events, false).reply?.parts.map(
        (part) => 'text' in part && part.text,
      )
    expect(textsOf(words('No'), words('.', 'response.refusal.delta'), words(7))).toEqual(['No.'])
    expect(textsOf(words('Oa'), words('k.'), done(message('Oak.')))).toEqual(['Oak.'])
    expect(textsOf(words('Oak.'), done({ type: 'other' }), words('!'))?.at(-1)).toBe('Oak.!')
    expect(textsOf()).toBeUndefined()
  })

  it('counts the size of its items', () => {
    const { collector } = collect(responsesProtocol, [done({ type: 'other' }), done('x')])
    expect(collector.size).toBe(2_048 + 8 + 13)
  })

  it.each<[readonly JsonObject[], string | undefined]>([
    [[{ id: 'a' }, { id: 'b' }], 'mixed-answers'],
    [[{ id: 'a' }, { id: 'a' }], undefined],
    [[{}, { id: 'b' }, {}], undefined],
  ])('of the ids %j the fault is %s', ([first = {}, ...others], fault) => {
    const events = [
      { type: 'response.created', response: first },
      ...others.map((each) => completed(each)),
    ]
    expect(collect(responsesProtocol, events).collector.fault).toBe(fault)
  })

  it('Codex gets the leading system texts beside the items, and a later one as a user’s', () => {
    const wire = wireOf(codexProtocol, [system('One.'), system('Two.'), ask, system('Three.')])
    expect(wire['instructions']).toBe('One.\n\nTwo.')
    const input = wire['input'] as JsonObject[]
    expect(input.map(({ role }) => role)).toEqual(['user', 'user'])
    expect(JSON.stringify(input[1])).toContain('Three.')
    expect(wireOf(codexProtocol, [system('One.')])['instructions']).toBe('One.')
  })
})

describe('Google', () => {
  const event = (...parts: JsonValue[]) => ({ candidates: [{ content: { role: 'model', parts } }] })
  const call = (name: string, more: object = {}) => ({ functionCall: { name, ...more } })

  it('joins text with text and thoughts with thoughts', () => {
    const { reply } = collect(googleProtocol, [
      event({ text: 'Hm', thought: true }, { text: ', ', thought: true }, { text: '' }),
      event({ text: 'Oak' }, { text: '.' }, 'x'),
      event({ text: 'More.', thought: true }),
    ])
    expect(reply?.parts).toEqual([
      { type: 'reasoning', text: 'Hm, ' },
      { type: 'text', text: 'Oak.' },
      { type: 'reasoning', text: 'More.' },
    ])
  })

  it('gives a call without an id its own, and arguments if it has none', () => {
    const { reply } = collect(googleProtocol, [
      event(call('a', { id: 'own', args: { x: 1 } }), call('b'), { functionCall: { args: {} } }),
    ])
    expect(reply?.parts).toEqual([
      { type: 'tool-call', id: 'own', name: 'a', input: { x: 1 } },
      { type: 'tool-call', id: expect.stringMatching(/^call_[0-9a-f]{32}$/), name: 'b', input: {} },
      { type: 'opaque', provider: 'google', value: { functionCall: { args: {} } } },
    ])
  })

  it('counts the size of what came, and of each part', () => {
    const { collector } = collect(googleProtocol, [
      event({ text: 'Oa' }),
      event({ text: 'k' }),
      event({ ...call('b'), thoughtSignature: 's' }),
    ])
    expect(collector.size).toBe(3 * 2_048 + (8 + 10) + (8 + 9) + (8 + 8 + 9 + 9))
  })

  it('tells of several unknown parts of one event the last', () => {
    expect(collect(googleProtocol, [event({ a: 1 }, { b: 2 })]).items).toEqual([{ b: 2 }])
  })

  it.each([
    ['gemini-2.5-pro', false],
    ['gemini-3-pro', true],
    ['gemini-10', true],
    ['gemma-4', false],
  ])('%s requires a signature at the first call of a message: %s', (model, isRequired) => {
    const both = { ...toolCall('a'), parts: [...toolCall('a').parts, ...toolCall('b').parts] }
    const results = [...toolResult('a', 'x').parts, ...toolResult('b', 'y').parts]
    const messages: Message[] = [ask, both, { role: 'tool', parts: results }]
    const contents = wireOf(googleProtocol, messages, { model })['contents'] as JsonObject[]
    const parts = contents[1]?.['parts'] as JsonObject[]
    expect(parts.map((part) => part['thoughtSignature'])).toEqual([
      ...[isRequired ? 'skip_thought_signature_validator' : undefined, undefined],
    ])
    expect(JSON.stringify(contents[0])).not.toContain('Signature')
    expect(JSON.stringify(contents[2])).not.toContain('Signature')
  })
})
