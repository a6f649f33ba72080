import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../packages/core/src/base/json.ts'

/**
 * Pieces of foreign documents for property tests of the codecs: unknown fields, invalid contents,
 * and strings that break programs.
 */
export const text = fc.oneof(
  fc.constantFrom(
    'hi',
    'two\nlines',
    '',
    ' ',
    '\u0000',
    '\ud800',
    '日本',
    '{"a":1}',
    'a'.repeat(30),
  ),
  fc.string({ maxLength: 12 }),
)

export const id = fc.constantFrom('a', 'b', 'call_1', '', '\udc00')

const scalar = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, 0, 1.5, -7, [], {}, [null]),
  text,
)

/** Any JSON, keys that could pollute a prototype included. */
export const json: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(JSON.parse('{"__proto__":{"polluted":true},"x":1}')) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('x', 'type', 'text', 'y'), scalar) },
)

/** Fields that no format has. */
const unknownFields: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: json.map((value) => ({ x_note: value })) },
  { weight: 1, arbitrary: fc.constant(JSON.parse('{"__proto__":[1],"constructor":2}')) },
)

/** An object with required fields, some optional ones, and unknown fields. */
export function thing(
  required: { readonly [key: string]: fc.Arbitrary<JsonValue> },
  optional: { readonly [key: string]: fc.Arbitrary<JsonValue> } = {},
): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(
      fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) }),
      unknownFields,
    )
    .map(([known, more]) => ({ ...more, ...known }) as JsonObject)
}

/** Content in all its spellings; `parts` are the format's own. */
export function contentOf(parts: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  return fc.oneof(
    { weight: 3, arbitrary: text },
    {
      weight: 4,
      arbitrary: fc.array(fc.oneof({ weight: 6, arbitrary: parts }, json), { maxLength: 4 }),
    },
    { weight: 1, arbitrary: fc.constantFrom<JsonValue>(null, {}, { text: 'dict' }, 7, false) },
  )
}

const constant = (value: JsonValue) => fc.constant(value)

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
/** OpenAI chat: any message, well formed or not. */
export const chatMessage = fc.oneof(
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
export const anthropicBlock = fc.oneof(
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
  { content: contentOf(anthropicBlock), is_error: fc.oneof(fc.boolean(), json), name: text },
)
/** Anthropic: any message, well formed or not. */
export const anthropicMessage = fc.oneof(
  thing(role('user'), { content: contentOf(fc.oneof(anthropicBlock, result)) }),
  thing(role('assistant'), { content: contentOf(fc.oneof(anthropicBlock, result)) }),
  thing(role('system'), { content: contentOf(anthropicBlock) }),
)

const itemPart = fc.oneof(
  thing({ ...type('input_text'), text }),
  thing({ ...type('output_text'), text }, { annotations: json }),
  thing({ ...type('refusal'), refusal: text }),
  thing(type('input_image'), { image_url: fc.oneof(url, json), file_id: id, detail: text }),
  thing(type('input_file'), { file_url: url, file_data: url, file_id: id, filename: text }),
)
/** Responses items: any message, well formed or not. */
export const responsesItem = fc.oneof(
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
/** The AI SDK: any message, well formed or not. */
export const aiMessage = fc.oneof(
  thing(role('system'), { content: contentOf(aiPart), ...options }),
  thing(role('user'), { content: contentOf(aiPart), ...options }),
  thing(role('assistant'), { content: contentOf(fc.oneof(aiPart, aiResult)) }),
  thing(role('tool'), { content: contentOf(fc.oneof(aiResult, aiPart)) }),
)

/** Text that is the same for equal values, whatever the order of their keys. */
export function canonical(value: JsonValue): string {
  return JSON.stringify(value, (_, inner: JsonValue) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))
      : inner,
  )
}
