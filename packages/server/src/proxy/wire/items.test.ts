import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import { anthropicWire } from './anthropic.ts'
import { chatWire } from './chat.ts'
import { responsesWire } from './responses.ts'
import type { ClientWire } from './wire.ts'

const text = (role: string, words: string) => ({ kind: 'text', role, text: words })
const block = (role: string, part: object) => ({ kind: 'block', role, part })
const call = (id: string, name: string, input: object) => ({ kind: 'call', id, name, input })
const result = (id: string, ...output: readonly object[]) => ({
  ...{ kind: 'result', id, output, isError: false },
})
const words = (value: string) => ({ type: 'text', text: value })
const sealed = (provider: string, value: object) => ({ type: 'opaque', provider, value })
const only = (...units: readonly object[]) => ({ units, notes: [] })
const data = 'iVBORw0KGgo='
const url = `data:image/png;base64,${data}`
const image = { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data } }
const REMINDER = '<system-reminder>Be brief.</system-reminder>'
const note = { kind: '<system-reminder>Be brief#</system-reminder>', text: REMINDER }
const source = { type: 'base64', media_type: 'image/png', data }
const named = (id: string, value: string) => ({ id, function: { name: 'f', arguments: value } })

const ITEMS: readonly (readonly [string, ClientWire, JsonObject, object])[] = [
  ['words', anthropicWire, { role: 'user', content: ' a ' }, only(text('user', 'a'))],
  ['nothing', anthropicWire, { role: 'user' }, only()],
  ['white space', anthropicWire, { role: 'user', content: ' ' }, only()],
  [
    'words with a note, then a result',
    anthropicWire,
    {
      role: 'user',
      content: [
        words(`a\n${REMINDER}`),
        words(REMINDER),
        'odd',
        { type: 'tool_result', tool_use_id: 't', content: ' b ', is_error: false },
      ] as never,
    },
    { units: [text('user', 'a'), result('t', words('b'))], notes: [note, note], blocks: [0, 2] },
  ],
  [
    'a failed result with a note within',
    anthropicWire,
    {
      role: 'user',
      content: [
        {
          ...{ type: 'tool_result', tool_use_id: 't', is_error: true },
          content: [words(`${REMINDER} b `), words(REMINDER), { type: 'image', source }],
        },
      ],
    },
    {
      ...{ units: [{ ...result('t', words('b'), image), isError: true }], notes: [] },
      blocks: [0],
    },
  ],
  [
    'a picture at an address',
    anthropicWire,
    { role: 'user', content: [{ type: 'image', source: { type: 'url' }, cache_control: {} }] },
    {
      ...only(block('user', sealed('anthropic', { type: 'image', source: { type: 'url' } }))),
      blocks: [0],
    },
  ],
  [
    'a kind of media that is new',
    anthropicWire,
    { role: 'user', content: [{ type: 'film', source }] },
    { ...only(block('user', sealed('anthropic', { type: 'film', source }))), blocks: [0] },
  ],
  [
    'a reply',
    anthropicWire,
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'redacted_thinking', data: 'x' },
        words(` ${REMINDER} `),
        { type: 'tool_use', id: 't', name: 'Bash', input: { a: 1 } },
        { type: 'tool_use', id: 'u', name: 'Look' },
        { type: 'server_tool_use', id: 'v' },
      ],
    },
    only(
      text('assistant', REMINDER),
      call('t', 'Bash', { a: 1 }),
      call('u', 'Look', {}),
      block('assistant', sealed('anthropic', { type: 'server_tool_use', id: 'v' })),
    ),
  ],
  [
    'a system message',
    anthropicWire,
    { role: 'system', content: [words('Today: 3 May.'), words(''), words('Else.')] },
    {
      units: [],
      notes: [
        { kind: 'Today# # May#', text: 'Today: 3 May.' },
        { kind: 'Else#', text: 'Else.' },
      ],
    },
  ],
  ['words', chatWire, { role: 'user', content: ' a ' }, only(text('user', 'a'))],
  [
    'words with a note and pictures',
    chatWire,
    {
      role: 'user',
      content: [
        words(`a\n${REMINDER}`),
        { type: 'image_url', image_url: { url } },
        { type: 'input_audio', data: 'x' },
      ],
    },
    {
      units: [
        ...[text('user', 'a'), block('user', image)],
        block('user', sealed('openai', { type: 'input_audio', data: 'x' })),
      ],
      notes: [note],
    },
  ],
  [
    'a reply with calls',
    chatWire,
    {
      role: 'assistant',
      content: [words('a'), words('b')],
      tool_calls: [named('c', '{"x":1}'), named('d', '{'), { id: 'e' }, 'odd'] as never,
    },
    only(
      text('assistant', 'ab'),
      call('c', 'f', { x: 1 }),
      { ...call('d', 'f', {}), inputText: '{' },
      call('e', '', {}),
    ),
  ],
  [
    'a result',
    chatWire,
    { role: 'tool', tool_call_id: 'c', content: 'b' },
    only(result('c', words('b'))),
  ],
  ...['system', 'developer'].map(
    (role) =>
      [
        `of the ${role}`,
        chatWire,
        { role, content: [words('You are '), words('v1.2.')] },
        { units: [], notes: [], rank: `${role} You are v#` },
      ] as const,
  ),
  [
    'words',
    responsesWire,
    { role: 'user', content: `a\n${REMINDER}` },
    { units: [text('user', 'a')], notes: [note] },
  ],
  ...['input_text', 'output_text', 'text'].map(
    (type) =>
      [
        `a reply as ${type}`,
        responsesWire,
        { type: 'message', role: 'assistant', content: [{ type, text: REMINDER }] },
        only(text('assistant', REMINDER)),
      ] as const,
  ),
  [
    'a refusal',
    responsesWire,
    { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    only(block('assistant', sealed('openai', { type: 'refusal', refusal: 'No.' }))),
  ],
  [
    'a picture',
    responsesWire,
    { role: 'user', content: [{ type: 'input_image', image_url: url }] },
    only(block('user', image)),
  ],
  [
    'a call',
    responsesWire,
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"x":1}', id: 'i' },
    only(call('c', 'f', { x: 1 })),
  ],
  [
    'a call in words',
    responsesWire,
    { type: 'custom_tool_call', call_id: 'c', name: 'f', input: '*** Begin' },
    only({ ...call('c', 'f', {}), inputText: '*** Begin' }),
  ],
  [
    'a call of the shell',
    responsesWire,
    { type: 'local_shell_call', call_id: 'c', action: { command: ['ls'] } },
    only(call('c', 'local_shell', { command: ['ls'] })),
  ],
  [
    'a call of the shell for nothing',
    responsesWire,
    { type: 'local_shell_call', call_id: 'c' },
    only(call('c', 'local_shell', {})),
  ],
  ...['function_call_output', 'custom_tool_call_output', 'local_shell_call_output'].map(
    (type) =>
      [
        type,
        responsesWire,
        { type, call_id: 'c', output: [words('b'), { image_url: url }] },
        only(result('c', words('b'), image)),
      ] as const,
  ),
  ...['reasoning', 'compaction_trigger', 'item_reference'].map(
    (type) => [type, responsesWire, { type, id: 'i' }, only()] as const,
  ),
  [
    'a search',
    responsesWire,
    { type: 'web_search_call', action: 'x', id: 'i', status: 'completed' },
    only(block('assistant', sealed('openai', { type: 'web_search_call', action: 'x' }))),
  ],
  ...['system', 'developer'].map(
    (role) =>
      [
        `of the ${role}`,
        responsesWire,
        { role, content: [{ type: 'input_text', text: 'You are v1.2.\nx' }, words('y')] },
        { units: [], notes: [], rank: `${role} You are v#` },
      ] as const,
  ),
  [
    'of the system in two parts',
    responsesWire,
    { role: 'system', content: [words('One'), words('Two')] },
    { units: [], notes: [], rank: 'system One' },
  ],
  [
    'tools',
    responsesWire,
    { type: 'additional_tools', role: 'developer', tools: [] },
    { units: [], notes: [], rank: 'developer additional_tools' },
  ],
]

it.each(ITEMS)('an item of a client is read whole: %s', (_, wire, item, read) => {
  expect(wire.read(item)).toEqual(read)
})

const start = (index: number, content_block: JsonObject): JsonObject => ({
  ...{ type: 'content_block_start', index, content_block },
})
const grows = (index: number, delta: JsonObject): JsonObject => ({
  ...{ type: 'content_block_delta', index, delta },
})
const done = (item: JsonObject): JsonObject => ({ type: 'response.output_item.done', item })
const says = (delta: string): JsonObject => ({ type: 'response.output_text.delta', delta })
const part = (delta: JsonObject, more: JsonObject = {}) => ({ choices: [{ delta, ...more }] })
const said = { type: 'message', role: 'assistant', content: [words('a')] }
const used = (input: number, cached: number, output: number, written = 0) => ({
  ...{ inputTokens: input, cachedTokens: cached, cacheWriteTokens: written, outputTokens: output },
})
const partial = (...units: readonly object[]) => ({ units, isWhole: false, usage: null })
const whole = (...units: readonly object[]) => ({ units, isWhole: true, usage: null })

const REPLIES: readonly (readonly [string, ClientWire, readonly JsonObject[], object])[] = [
  ['nothing', anthropicWire, [{ type: 'ping' }], partial()],
  [
    'words and figures, which rise',
    anthropicWire,
    [
      {
        type: 'message_start',
        message: {
          usage: {
            ...{ input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 1 },
            cache_creation_input_tokens: 2,
          },
        },
      },
      start(0, { type: 'text', text: 'H' }),
      grows(0, { type: 'text_delta', text: 'el' }),
      grows(0, { type: 'signature_delta', signature: 'x' }),
      grows(0, { type: 'text_delta', text: 'lo' }),
      grows(9, { type: 'text_delta', text: 'lost' }),
      { type: 'message_delta', usage: { input_tokens: 1, output_tokens: 3 } },
      { type: 'message_stop' },
    ],
    { ...whole(text('assistant', 'Hello')), usage: used(14, 7, 3, 2) },
  ],
  [
    'calls, of which one is cut off',
    anthropicWire,
    [
      start(0, { type: 'tool_use', id: 't', name: 'f', input: {} }),
      grows(0, { type: 'input_json_delta', partial_json: '{"a":' }),
      grows(0, { type: 'input_json_delta', partial_json: '1}' }),
      start(1, { type: 'tool_use', id: 'u', name: 'g', input: { b: 2 } }),
      start(2, { type: 'tool_use', id: 'v', name: 'h', input: {} }),
      grows(2, { type: 'input_json_delta', partial_json: '{' }),
      start(3, { type: 'odd', x: 1 }),
    ],
    partial(
      call('t', 'f', { a: 1 }),
      call('u', 'g', { b: 2 }),
      block('assistant', sealed('anthropic', { type: 'odd', x: 1 })),
    ),
  ],
  [
    'a document',
    anthropicWire,
    [{ type: 'message', content: [words('a')], usage: { input_tokens: 4, output_tokens: 2 } }],
    { ...whole(text('assistant', 'a')), usage: used(4, 0, 2) },
  ],
  [
    'words that go on',
    responsesWire,
    [says('He'), says('llo')],
    partial(text('assistant', 'Hello')),
  ],
  [
    'words behind a whole item',
    responsesWire,
    [says('a'), done(said), says('b')],
    partial(text('assistant', 'a'), text('assistant', 'b')),
  ],
  ...['response.completed', 'response.incomplete'].map(
    (type) =>
      [
        type,
        responsesWire,
        [
          done(said),
          {
            type,
            response: {
              usage: {
                ...{ input_tokens: 9, output_tokens: 2 },
                input_tokens_details: { cached_tokens: 4 },
              },
            },
          },
        ],
        { ...whole(text('assistant', 'a')), usage: used(9, 4, 2) },
      ] as const,
  ),
  ['no figures', responsesWire, [{ type: 'response.completed' }], whole()],
  ['another event', responsesWire, [{ type: 'response.created', response: {} }], partial()],
  [
    'a document',
    responsesWire,
    [{ object: 'response', output: [said], usage: { input_tokens: 9, output_tokens: 2 } }],
    { ...whole(text('assistant', 'a')), usage: used(9, 0, 2) },
  ],
  ['another document', responsesWire, [{ object: 'list', output: [said] }], partial()],
  [
    'words and a call',
    chatWire,
    [
      part({ content: 'He' }),
      part({ content: 'llo' }),
      part({ tool_calls: [{ index: 1, ...named('d', '{"y":') }] }),
      part({ tool_calls: [{ index: 0, ...named('c', '{"x":1}') }] }),
      part({ tool_calls: [{ index: 1, function: { name: 'g', arguments: '2}' } }] }),
      part({}, { finish_reason: 'tool_calls' }),
      {
        choices: [],
        usage: {
          ...{ prompt_tokens: 8, completion_tokens: 1 },
          prompt_tokens_details: { cached_tokens: 3 },
        },
      },
    ],
    {
      ...whole(text('assistant', 'Hello'), call('d', 'f', { y: 2 }), call('c', 'f', { x: 1 })),
      usage: used(8, 3, 1),
    },
  ],
  [
    'calls that are cut off',
    chatWire,
    [part({ tool_calls: [named('c', '{"x":1}'), named('d', '{')] })],
    partial(call('c', 'f', { x: 1 })),
  ],
  [
    'a call that is no JSON, whole',
    chatWire,
    [part({ tool_calls: [named('d', '{')] }, { finish_reason: 'stop' })],
    whole({ ...call('d', 'f', {}), inputText: '{' }),
  ],
  [
    'a document',
    chatWire,
    [
      {
        choices: [
          { message: { content: 'a', tool_calls: [named('c', '')] }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 8, completion_tokens: 1.5 },
      },
    ],
    { ...whole(text('assistant', 'a'), call('c', 'f', {})), usage: used(8, 0, 1) },
  ],
]

describe('a reply', () => {
  it.each(REPLIES)('is read whole: %s', (_, wire, events, expected) => {
    const reader = wire.openReply()
    for (const event of events) reader.take(event)
    expect(reader.reply()).toEqual(expected)
  })
})

it('a handoff stands behind the notes of Chat clients in one text', () => {
  const notes = [
    { kind: 'k', text: 'One.' },
    { kind: 'l', text: 'Two.' },
  ]
  expect(chatWire.writeHandoff('Words.', notes)).toBe(
    '{"role":"user","content":"One.\\n\\nTwo.\\n\\nWords."}',
  )
  expect([anthropicWire.list, chatWire.list, responsesWire.list]).toEqual([
    ...['messages', 'messages', 'input'],
  ])
})
