import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../../base/json.ts'
import { checkWire } from '../../dialects/check/check.ts'
import { normalize } from '../../dialects/normalize.ts'
import { geminiFormat } from './gemini.ts'

/** Made by the functions of `@google/genai` 2.32.0: `createUserContent`, `createPartFromFunctionCall` … */
const contents: JsonValue = JSON.parse(
  readFileSync(
    new URL('../../../../../../test/fixtures/gemini/contents.json', import.meta.url),
    'utf8',
  ),
)

describe('contents of Gemini', () => {
  it('come back as they were, with thoughts, signatures, calls, responses, files and code', () => {
    expect(geminiFormat.reject(contents)).toBeUndefined()
    const conversation = geminiFormat.parse(contents)
    expect(geminiFormat.format(conversation)).toEqual(contents)
  })

  it('pair responses without ids with the calls of their name, in their order', () => {
    const { messages } = geminiFormat.parse(contents)
    const calls = messages.flatMap((message) =>
      message.role === 'assistant' ? message.parts.filter((part) => part.type === 'tool-call') : [],
    )
    const results = messages.flatMap((message) => (message.role === 'tool' ? message.parts : []))
    expect(results.map(({ callId }) => callId)).toEqual(calls.map(({ id }) => id))
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3)
    expect(results.map(({ isError }) => isError === true)).toEqual([false, true, false])
  })

  it('are written from messages of Gemini and of other formats', () => {
    const { messages } = geminiFormat.parse(contents)
    const legal = normalize(
      [...messages, { role: 'user', parts: [{ type: 'text', text: 'Go on.' }] }],
      'gemini',
    )
    const written = geminiFormat.format({ format: 'gemini', messages: legal, notes: [] })
    expect(checkWire('gemini', { contents: written })).toEqual([])
    const foreign = geminiFormat.format({
      format: 'gemini',
      notes: [],
      messages: [
        { role: 'user', parts: [{ type: 'text', text: 'Look.' }] },
        {
          role: 'assistant',
          parts: [
            { type: 'tool-call', id: 'a', name: 'one', input: { x: 1 } },
            { type: 'tool-call', id: 'b', name: 'two', input: {} },
          ],
        },
        {
          role: 'tool',
          parts: [
            { type: 'tool-result', callId: 'b', output: [], isError: true },
            { type: 'tool-result', callId: 'a', output: [{ type: 'text', text: 'yes' }] },
          ],
        },
      ],
    })
    expect(foreign).toEqual([
      { role: 'user', parts: [{ text: 'Look.' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'a', name: 'one', args: { x: 1 } } },
          { functionCall: { id: 'b', name: 'two', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'one', response: { output: 'yes' } } },
          { functionResponse: { id: 'b', name: 'two', response: { error: '' } } },
        ],
      },
    ])
    expect(checkWire('gemini', { contents: foreign })).toEqual([])
  })

  it('keep results and text of one turn together, in their order', () => {
    const call = { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] }
    const answer = { functionResponse: { name: 'f', response: { output: 'x' } } }
    const turn = [call, { role: 'user', parts: [{ text: 'Before.' }, answer, { text: 'After.' }] }]
    const { messages } = geminiFormat.parse(turn)
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user'])
    expect(geminiFormat.format({ format: 'gemini', messages, notes: [] })).toEqual(turn)
  })

  it.each<[string, JsonValue]>([
    ['a role that is left out', [{ parts: [{ text: 'x' }] }]],
    ['the old role of responses', [{ role: 'function', parts: [{ text: 'x' }] }]],
    ['no parts', [{ role: 'user' }]],
    ['fields without a word of ours', [{ role: 'user', parts: [{ text: 'x', y: 1 }], z: [2] }]],
    ['a call without arguments', [{ role: 'model', parts: [{ functionCall: { name: 'f' } }] }]],
    ['a kind to come', [{ role: 'model', parts: [{ hologram: { data: 'x' } }] }]],
    ['bytes without a type', [{ role: 'user', parts: [{ inlineData: { data: 'eA==' } }] }]],
    [
      'an empty response',
      [{ role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: '' } } }] }],
    ],
  ])('come back as they were: %s', (_, document) => {
    expect(geminiFormat.format(geminiFormat.parse(document))).toEqual(document)
  })

  it.each<[string, JsonValue, RegExp]>([
    ['messages of OpenAI', [{ role: 'user', content: 'x' }], /"content" where "parts" is due/],
    ['another role', [{ role: 'assistant', parts: [] }], /the role "assistant"/],
    ['parts that are a text', [{ role: 'user', parts: 'x' }], /has no parts/],
    ['a request', { contents: [] }, /expected an array/],
  ])('are not detected in %s', (_, document, reason) => {
    expect(geminiFormat.reject(document)).toMatch(reason)
  })
})
