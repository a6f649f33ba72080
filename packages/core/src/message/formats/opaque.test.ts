import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../base/json.ts'
import { readConversation } from '../read.ts'
import { convertConversation, writeConversation } from '../write.ts'
import { FORMAT_NAMES, type FormatName } from './names.ts'

/** Items that only their provider reads, one conversation for each kind. */
const compaction = { id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAAB+/=\u2028' }
const encrypted = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'thought' }],
  encrypted_content: 'gAAA',
}
const ask = { role: 'user', content: 'hi' }
const opaque: readonly [string, FormatName, JsonValue, JsonValue][] = [
  ['a compaction item', 'openai-responses', compaction, [ask, compaction]],
  ['encrypted reasoning', 'openai-responses', encrypted, [ask, encrypted]],
  [
    'a web search',
    'openai-responses',
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } },
    [ask, { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } }],
  ],
  [
    'a compaction block',
    'anthropic',
    { type: 'compaction', content: 'so far' },
    [ask, { role: 'assistant', content: [{ type: 'compaction', content: 'so far' }] }],
  ],
  [
    'signed thinking',
    'anthropic',
    { type: 'thinking', thinking: 'hm', signature: 'EvUB+/=' },
    [
      ask,
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 'EvUB+/=' }] },
    ],
  ],
  [
    'redacted thinking',
    'anthropic',
    { type: 'redacted_thinking', data: 'xx' },
    [ask, { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'xx' }] }],
  ],
  [
    'a search the server ran',
    'anthropic',
    { type: 'web_search_tool_result', tool_use_id: 'srv', content: [{ encrypted_content: 'e' }] },
    [
      ask,
      {
        role: 'assistant',
        content: [
          {
            type: 'web_search_tool_result',
            tool_use_id: 'srv',
            content: [{ encrypted_content: 'e' }],
          },
        ],
      },
    ],
  ],
]

const OWN: { readonly [format in FormatName]?: readonly FormatName[] } = {
  'openai-responses': ['openai-responses', 'codex'],
  anthropic: ['anthropic', 'claude-code'],
}

describe.each(opaque)('%s', (_, format, item, document) => {
  const read = readConversation(JSON.stringify(document), format)

  it('is written back byte for byte', () => {
    expect(JSON.parse(writeConversation(read))).toEqual(document)
    expect(JSON.stringify(JSON.parse(writeConversation(read)))).toContain(JSON.stringify(item))
  })

  it.each(FORMAT_NAMES)('is written for its own provider only (%s)', (to) => {
    const written = writeConversation(convertConversation(read, to))
    const isThere = JSON.stringify(written.split('\n').map(quietParse)).includes(
      JSON.stringify(item),
    )
    const whole = isThere || JSON.stringify(quietParse(written)).includes(JSON.stringify(item))
    expect(whole).toBe(OWN[format]?.includes(to) ?? false)
    expect(readConversation(written, to).messages[0]).toMatchObject({ role: 'user' })
  })
})

describe('sealed reasoning that several formats carry', () => {
  it('is passed from the SDK and from pi to its provider', () => {
    const sealed = {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 'sig' } } },
        { type: 'text', text: 'hi' },
      ],
    }
    const fromSdk = readConversation(JSON.stringify([sealed]), 'ai-sdk')
    const block = { type: 'thinking', thinking: 'hm', signature: 'sig' }
    expect(JSON.parse(writeConversation(convertConversation(fromSdk, 'anthropic')))).toEqual([
      { role: 'assistant', content: [block, { type: 'text', text: 'hi' }] },
    ])
    const asPi = writeConversation(convertConversation(fromSdk, 'pi'))
    const fromPi = readConversation(asPi, 'pi')
    expect(JSON.parse(writeConversation(convertConversation(fromPi, 'anthropic')))).toEqual([
      { role: 'assistant', content: [block, { type: 'text', text: 'hi' }] },
    ])
    expect(writeConversation(convertConversation(fromSdk, 'openai-responses'))).not.toContain('hm')
  })
})

function quietParse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return null
  }
}
