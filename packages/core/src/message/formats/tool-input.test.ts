import { expect, it } from 'vitest'
import { readToolInput } from './tool-input.ts'

it.each([
  ['{"a":1}', { input: { a: 1 } }],
  ['{"a": 1}', { input: { a: 1 }, inputText: '{"a": 1}' }],
  ['', { input: {}, inputText: '' }],
  ['{"a":', { input: '{"a":', inputText: '{"a":' }],
  ['ls', { input: 'ls', inputText: 'ls' }],
])('the arguments %j of a call are read as %j', (text, read) => {
  expect(readToolInput(text)).toEqual(read)
})
