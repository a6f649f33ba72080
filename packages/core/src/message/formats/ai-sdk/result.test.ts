import { expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../../base/json.ts'
import { readAiResult, writeAiResult } from './result.ts'

const call = { type: 'tool-result', toolCallId: 'c1', toolName: 'look' }
const content = (...value: JsonValue[]): JsonObject => ({
  ...call,
  output: { type: 'content', value },
})

function read(value: JsonObject) {
  const part = readAiResult(value, 0)
  if (part === undefined) throw new Error('not read')
  return part
}

it.each<readonly [string, JsonObject]>([
  ['text', { ...call, output: { type: 'text', value: 'four lines' } }],
  ['an error', { ...call, output: { type: 'error-text', value: 'no such file' } }],
  ['a value', { ...call, output: { type: 'json', value: { a: [1, null] } } }],
  ['an error as a value', { ...call, output: { type: 'error-json', value: ['no'] } }],
  ['a bare result of version 4', { ...call, result: { ok: true } }],
  ['no name', { type: 'tool-result', toolCallId: 'c1', output: { type: 'text', value: 'a' } }],
  ['no output', call],
  ['an output of another kind', { ...call, output: { type: 'of-next-year', value: 1 } }],
  ['an output that is no object', { ...call, output: 7 }],
  [
    'a text and more fields',
    { ...call, output: { type: 'text', value: 'a', note: 1 }, extra: [2] },
  ],
  ['text content', content({ type: 'text', text: 'a', providerOptions: { b: 1 } })],
  ['a text that is not a string', content({ type: 'text', text: 7 })],
  ['bare content', content('a')],
  ['media', content({ type: 'media', data: 'AAAA', mediaType: 'image/png' })],
  ['an image', content({ type: 'image-data', data: 'AAAA', mediaType: 'image/png' })],
  ['a file', content({ type: 'file-data', data: 'AAAA', mediaType: 'application/pdf', name: 'a' })],
  ['media without a type', content({ type: 'media', data: 'AAAA' })],
  ['an item of another kind', content({ type: 'file-url', url: 'https://a.example/b' })],
])('%s is returned unchanged', (_what, value) => {
  expect(writeAiResult(read(value))).toEqual(value)
})

it('recognizes pictures, files and errors', () => {
  const kinds = (value: JsonObject) => read(value).output.map(({ type }) => type)
  const media = (type: string, mediaType: string) => content({ type, data: 'AAAA', mediaType })
  expect(kinds(content('a', { type: 'text', text: 'b' }))).toEqual(['text', 'text'])
  expect(kinds(media('media', 'image/png'))).toEqual(['image'])
  expect(kinds(media('image-data', 'image/webp'))).toEqual(['image'])
  expect(kinds(media('file-data', 'application/pdf'))).toEqual(['file'])
  expect(kinds(media('other', 'image/png'))).toEqual(['opaque'])
  expect(read({ ...call, output: { type: 'error-text', value: 'a' } }).isError).toBe(true)
  expect(read({ ...call, output: { type: 'error-json', value: 1 } }).isError).toBe(true)
  expect(read({ ...call, output: { type: 'json', value: 1 } }).isError).toBeUndefined()
  expect(readAiResult({ type: 'text', text: 'a' }, 0)).toBeUndefined()
  expect(readAiResult({ type: 'tool-result', output: 'a' }, 0)).toBeUndefined()
})

it('writes a result of another format in the plainest way', () => {
  const source = { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } as const
  const result = { type: 'tool-result', callId: 'c1', name: 'look' } as const
  const text = { type: 'text', text: 'a' } as const
  expect(writeAiResult({ ...result, output: [text] })).toEqual({
    ...call,
    output: { type: 'text', value: 'a' },
  })
  expect(writeAiResult({ ...result, output: [text], isError: true })).toEqual({
    ...call,
    output: { type: 'error-text', value: 'a' },
  })
  expect(writeAiResult({ ...result, output: [text, { type: 'image', source }] })).toEqual(
    content({ type: 'text', text: 'a' }, { type: 'media', data: 'AAAA', mediaType: 'image/png' }),
  )
  // The AI SDK refuses a result without the field.
  const unnamed = writeAiResult({ type: 'tool-result', callId: 'c1', output: [text] })
  expect(unnamed['toolName']).toBe('')
})
