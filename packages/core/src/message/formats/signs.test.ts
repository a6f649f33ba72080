import { expect, it } from 'vitest'
import type { JsonObject } from '../../base/json.ts'
import { doubtBySigns, doubtBySystem } from './signs.ts'

const said = (part: JsonObject): JsonObject => ({ role: 'user', content: [part] })
const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' }

const SIGNS: readonly (readonly [string, JsonObject])[] = [
  ['openai-chat', said({ type: 'image_url', image_url: { url: 'https://a.example' } })],
  ['openai-chat', said({ type: 'input_audio', input_audio: {} })],
  ['openai-chat', said({ type: 'file', file: { file_id: 'f' } })],
  ['openai-chat', { role: 'assistant', tool_calls: [] }],
  ['openai-chat', { role: 'assistant', function_call: {} }],
  ['openai-chat', { role: 'tool', tool_call_id: 'a', content: 'b' }],
  ['openai-chat', { role: 'function', name: 'a', content: 'b' }],
  ['openai-responses', { type: 'function_call', call_id: 'a' }],
  ['openai-responses', { type: 'message', role: 'user', content: 'a' }],
  ['openai-responses', said({ type: 'input_text', text: 'a' })],
  ['openai-responses', said({ type: 'output_text', text: 'a' })],
  ['openai-responses', said({ type: 'input_image', image_url: 'a' })],
  ['openai-responses', said({ type: 'input_file', file_id: 'a' })],
  ['anthropic', said({ type: 'tool_use', id: 'a', name: 'b', input: {} })],
  ['anthropic', said({ type: 'tool_result', tool_use_id: 'a' })],
  ['anthropic', said({ type: 'thinking', thinking: 'a' })],
  ['anthropic', said({ type: 'redacted_thinking', data: 'a' })],
  ['anthropic', said({ type: 'server_tool_use', id: 'a' })],
  ['anthropic', said({ type: 'compaction', content: 'a' })],
  ['anthropic', said({ type: 'document', source })],
  ['anthropic', said({ type: 'image', source })],
  ['ai-sdk', said({ type: 'tool-call', toolCallId: 'a' })],
  ['ai-sdk', said({ type: 'tool-result', toolCallId: 'a' })],
  ['ai-sdk', said({ type: 'reasoning', text: 'a' })],
  ['ai-sdk', said({ type: 'image', image: 'AAAA' })],
  ['ai-sdk', said({ type: 'file', data: 'AAAA', mediaType: 'image/png' })],
  ['ai-sdk', said({ type: 'text', text: 'a', providerOptions: {} })],
  ['ai-sdk', { role: 'user', content: 'a', providerOptions: {} }],
]

it.each(SIGNS)('a sign of %s: %j', (language, item) => {
  const items = [{ role: 'user', content: 'Hello.' }, item]
  for (const own of ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'] as const) {
    const doubt = doubtBySigns({ items }, own)
    if (own === language) expect(doubt).toBeUndefined()
    else expect(doubt).toMatch(new RegExp(`^item 1.* is spelled as in ${language}$`))
  }
})

it('names the part of the request that has the sign', () => {
  const wrapper = { key: 'messages', fields: {} } as const
  const items = [said({ type: 'document', source })]
  expect(doubtBySigns({ items, wrapper }, 'openai-chat')).toBe(
    'messages 0, part 0 (document) is spelled as in anthropic',
  )
})

it.each([
  said({ type: 'text', text: 'a' }),
  said({ type: 'document', data: 'a' }),
  said({ type: 'image' }),
  said({ type: 'file', file: 'a' }),
  { role: 'assistant', content: 'a' },
])('no sign of any format: %j', (item) => {
  expect(doubtBySigns({ items: [item, 'bare'] }, 'openai-chat')).toBeUndefined()
})

it('a system text beside the messages is not of chat, unless a sign says otherwise', () => {
  const items = [{ role: 'user', content: 'a' }]
  const withSystem = (system: JsonObject['system']) =>
    ({ items, wrapper: { key: 'messages', fields: { system: system ?? null } } }) as const
  expect(doubtBySystem(withSystem('Be brief.'), 'openai-chat')).toMatch(/"system" beside/)
  expect(doubtBySystem(withSystem([]), 'openai-chat')).toMatch(/"system" beside/)
  expect(doubtBySystem(withSystem(7), 'openai-chat')).toBeUndefined()
  expect(doubtBySystem({ items }, 'openai-chat')).toBeUndefined()
  expect(doubtBySystem(undefined, 'openai-chat')).toBeUndefined()
  const chat = { ...withSystem('a'), items: [{ role: 'assistant', tool_calls: [] }] }
  expect(doubtBySystem(chat, 'openai-chat')).toBeUndefined()
})
