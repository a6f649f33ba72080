import { expect, it } from 'vitest'
import { readPythonJson, writeJson } from './python-json.ts'

/** Each text as `json.dumps` printed it, with the arguments that it had. */
it.each([
  ['python', '{"a": [1, 2.5, null, true], "b": {}}'],
  ['python', '{"na\\u00efve": "gr\\u00fc\\u00dfe \\ud83d\\ude00"}'],
  ['python', '[{"path": "a.txt"}]'],
  ['python-raw', '{"naïve": "grüße 😀"}'],
  ['compact', '{"a":[1,2],"b":"ü"}'],
])('%s: %s is read and written the same', (style, text) => {
  const read = readPythonJson(text)
  expect(read?.style).toBe(style)
  expect(read?.value).toEqual(JSON.parse(text))
  if (read?.style) expect(writeJson(read.value, read.style)).toBe(text)
})

it('accepts NaN and the two infinities, but not within a string', () => {
  expect(readPythonJson('{"a": NaN, "b": -Infinity, "c": "NaN, \\"Infinity"}')).toEqual({
    ...{ value: { a: null, b: null, c: 'NaN, "Infinity' }, style: null },
  })
})

it('accepts NaN beside a string of any length', () => {
  const text = 'x'.repeat(9_000_000)
  expect(readPythonJson(`{"a": "${text}", "b": NaN}`)?.value).toEqual({ a: text, b: null })
})

it('reads other spacing without a style, and only lists and objects', () => {
  expect(readPythonJson('{ "a":1 }')).toEqual({ value: { a: 1 }, style: null })
  for (const text of ['7', '"a"', 'null', 'true', '{', '']) {
    expect(readPythonJson(text)).toBeUndefined()
  }
})

it('escapes characters beyond ASCII only by default', () => {
  expect(writeJson('é', 'python')).toBe('"\\u00e9"')
  expect(writeJson('é', 'python-raw')).toBe('"é"')
  expect(writeJson('é', 'compact')).toBe('"é"')
  expect(writeJson({ é: 'a' }, 'python')).toBe('{"\\u00e9": "a"}')
})
