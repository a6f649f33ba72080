import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonical,
  constant,
  contentOf,
  id,
  json,
  text,
  thing,
} from '../../../test/support/foreign.ts'
import type { JsonValue } from '../../base/json.ts'
import { aiSdk } from './ai-sdk.ts'
import { anthropic } from './anthropic.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'

const type = (name: string) => ({ type: constant(name) })
const url = fc.constantFrom('https://example.org/a.png', 'data:image/png;base64,AAAA', 'data:,x')
const role = (name: string) => ({ role: constant(name) })

const chatPart = fc.oneof(
  thing({ ...type('text'), text }),
  thing({ ...type('image_url'), image_url: fc.oneof(thing({ url }, { detail: text }), url) }),
  thing({ ...type('file'), file: thing({}, { file_data: url, file_id: id, filename: text }) }),
  thing({ ...type('input_audio'), input_audio: json }),
  thing({ ...type('refusal'), refusal: text }),
)
const args = fc.oneof(text, fc.constantFrom('{"a": 1}', '{"a":1}', '1e3', '{"__proto__":1}'), json)
const chatCall = fc.oneof(
  thing({ function: thing({ name: text }, { arguments: args }) }, { id, ...type('function') }),
  thing({ ...type('custom'), id, custom: thing({ name: text, input: text }) }),
  json,
)
const chatContent = contentOf(chatPart)
const chatMessage = fc.oneof(
  thing(role('system'), { content: chatContent, name: text }),
  thing(role('developer'), { content: chatContent }),
  thing(role('user'), { content: chatContent, name: text }),
  thing(role('assistant'), {
    content: chatContent,
    tool_calls: fc.oneof(fc.array(chatCall, { maxLength: 3 }), json),
    function_call: fc.oneof(thing({ name: text }, { arguments: args }), json),
    refusal: fc.oneof(text, constant(null)),
    audio: fc.oneof(thing({ id }), constant(null)),
    reasoning_content: fc.oneof(text, json),
    reasoning: text,
  }),
  thing(role('tool'), {
    content: chatContent,
    tool_call_id: fc.oneof(id, constant(null)),
    name: text,
  }),
  thing(role('function'), { content: chatContent, name: text }),
)

const source = fc.oneof(
  thing({ ...type('base64'), media_type: text, data: text }),
  fc.record({ ...type('base64'), media_type: text, data: text }),
  fc.record({ ...type('url'), url }),
  fc.record({ ...type('file'), file_id: id }),
  json,
)
const block = fc.oneof(
  thing({ ...type('text'), text }, { cache_control: json }),
  thing({ ...type('image'), source }),
  thing({ ...type('document'), source }, { title: fc.oneof(text, constant(null)) }),
  thing({ ...type('tool_use'), id, name: text }, { input: json }),
  thing({ ...type('thinking'), thinking: text }, { signature: text }),
  thing({ ...type('redacted_thinking'), data: text }),
  thing({ ...type('server_tool_use'), id, name: text, input: json }),
  thing({ ...type('compaction'), content: text }),
)
const result = thing(
  { ...type('tool_result'), tool_use_id: id },
  { content: contentOf(block), is_error: fc.oneof(fc.boolean(), json), name: text },
)
const anthropicMessage = fc.oneof(
  thing(role('user'), { content: contentOf(fc.oneof(block, result)) }),
  thing(role('assistant'), { content: contentOf(fc.oneof(block, result)) }),
  thing(role('system'), { content: contentOf(block) }),
)

const itemPart = fc.oneof(
  thing({ ...type('input_text'), text }),
  thing({ ...type('output_text'), text }, { annotations: json }),
  thing({ ...type('refusal'), refusal: text }),
  thing(type('input_image'), { image_url: fc.oneof(url, json), file_id: id, detail: text }),
  thing(type('input_file'), { file_url: url, file_data: url, file_id: id, filename: text }),
)
const item = fc.oneof(
  thing(
    { role: fc.constantFrom('user', 'assistant', 'system', 'developer') },
    {
      ...type('message'),
      content: contentOf(itemPart),
      id,
    },
  ),
  thing(type('reasoning'), { id, summary: json, encrypted_content: text }),
  thing({ ...type('function_call'), call_id: id, name: text }, { arguments: args, id }),
  thing({ ...type('function_call_output'), call_id: id }, { output: contentOf(itemPart) }),
  thing({ ...type('custom_tool_call'), call_id: id, name: text }, { input: fc.oneof(text, json) }),
  thing({ ...type('custom_tool_call_output') }, { call_id: id, output: text }),
  thing({ ...type('local_shell_call') }, { call_id: id, action: json }),
  thing({ type: fc.constantFrom('compaction', 'web_search_call', 'item_reference', 'new_kind') }),
)

const options = { providerOptions: json }
const aiPart = fc.oneof(
  thing({ ...type('text'), text }, options),
  thing({ ...type('image'), image: fc.oneof(url, text, json) }, { mediaType: text, ...options }),
  thing(
    { ...type('file'), data: fc.oneof(url, text, json) },
    { mediaType: fc.constantFrom('image/png', 'a/b'), filename: text },
  ),
  thing(
    { ...type('reasoning'), text },
    {
      providerOptions: fc.constantFrom<JsonValue>(
        { anthropic: { signature: 's' } },
        { anthropic: { redactedData: 'r' } },
        { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'e' } },
        { google: { thoughtSignature: 't' } },
      ),
    },
  ),
  thing(
    { ...type('tool-call'), toolCallId: id, toolName: text },
    {
      input: json,
      args: json,
      providerExecuted: fc.boolean(),
    },
  ),
)
const output = fc.oneof(
  thing({ type: fc.constantFrom('text', 'error-text'), value: text }),
  thing({ type: fc.constantFrom('json', 'error-json'), value: json }),
  thing({
    ...type('content'),
    value: fc.array(
      fc.oneof(
        thing({ ...type('text'), text }),
        thing({ type: fc.constantFrom('media', 'image-data'), data: text, mediaType: text }),
        json,
      ),
      { maxLength: 2 },
    ),
  }),
  thing(type('execution-denied')),
  json,
)
const aiResult = thing(
  { ...type('tool-result'), toolCallId: id },
  { toolName: text, output, result: json },
)
const aiMessage = fc.oneof(
  thing(role('system'), { content: contentOf(aiPart), ...options }),
  thing(role('user'), { content: contentOf(aiPart), ...options }),
  thing(role('assistant'), { content: contentOf(fc.oneof(aiPart, aiResult)) }),
  thing(role('tool'), { content: contentOf(fc.oneof(aiResult, aiPart)) }),
)

const around = thing({}, { model: text, tools: json, system: contentOf(block), instructions: text })

const cases = [
  { codec: openaiChat, message: chatMessage, key: 'messages' },
  { codec: anthropic, message: anthropicMessage, key: 'messages' },
  { codec: aiSdk, message: aiMessage, key: 'messages' },
  { codec: openaiResponses, message: item, key: 'input' },
] as const

describe.each(cases)('$codec.name documents', ({ codec, message, key }) => {
  const list = fc.array<JsonValue>(message, { maxLength: 6 })

  it('come back as they were when they are bare arrays', () => {
    fc.assert(
      fc.property(list, (document) => {
        expect(canonical(codec.format(codec.parse(document)))).toBe(canonical(document))
      }),
      { numRuns: 30_000 },
    )
  })

  it('come back as they were when they are request objects', () => {
    fc.assert(
      fc.property(list, around, (messages, fields) => {
        const document = { ...fields, [key]: messages }
        expect(canonical(codec.format(codec.parse(document)))).toBe(canonical(document))
      }),
      { numRuns: 30_000 },
    )
  })
})
