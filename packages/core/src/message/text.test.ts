import { describe, expect, it } from 'vitest'
import { lastModel } from './last-model.ts'
import type { Message, Part } from './message.ts'
import { plainText, textOf } from './text.ts'

describe('textOf', () => {
  it.each<[Part, string]>([
    [{ type: 'text', text: 'a\nb' }, 'a\nb'],
    [{ type: 'reasoning', text: 'hm' }, 'hm'],
    [{ type: 'image', source: { kind: 'url', url: 'https://x' } }, '[image]'],
    [{ type: 'file', source: { kind: 'id', id: 'f' } }, '[file]'],
    [{ type: 'file', source: { kind: 'id', id: 'f' }, name: 'a.pdf' }, '[file a.pdf]'],
    [{ type: 'tool-call', id: 'a', name: 'ls', input: { a: 1 } }, '[call ls] {"a":1}'],
    [
      { type: 'tool-call', id: 'a', name: 'ls', input: { a: 1 }, inputText: '{ "a": 1 }' },
      '[call ls] { "a": 1 }',
    ],
    [{ type: 'opaque', provider: 'other', value: 'as it is' }, 'as it is'],
    [{ type: 'opaque', provider: 'other', value: { type: 7 } }, '[unknown]'],
    [{ type: 'opaque', provider: 'other', value: null }, '[unknown]'],
    [{ type: 'opaque', provider: 'other', value: { a: 1 } }, '[unknown]'],
    [{ type: 'opaque', provider: 'other', value: { type: 'audio' } }, '[audio]'],
  ])('the text of %j is %j', (part, text) => {
    expect(textOf(part)).toBe(text)
  })

  it('joins the texts of the parts of a message', () => {
    const message: Message = {
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId: 'a',
          output: [
            { type: 'text', text: 'one' },
            { type: 'image', source: { kind: 'id', id: 'i' } },
          ],
        },
        { type: 'tool-result', callId: 'b', output: [] },
      ],
    }
    expect(textOf(message)).toBe('one\n[image]')
  })
})

describe('plainText', () => {
  it('is the text parts, one to a line', () => {
    const text = (value: string): Part => ({ type: 'text', text: value })
    const thought: Part = { type: 'reasoning', text: 'hm' }
    expect(plainText([])).toBe('')
    expect(plainText([text('a')])).toBe('a')
    expect(plainText([thought])).toBe('')
    expect(plainText([text('a'), thought, text(''), text('b')])).toBe('a\n\nb')
  })
})

it('the last model is that of the last reply that names one', () => {
  const reply = (model?: string): Message => ({
    ...{ role: 'assistant', parts: [] },
    ...(model !== undefined && { model }),
  })
  expect(lastModel([])).toBeUndefined()
  expect(lastModel([reply()])).toBeUndefined()
  expect(lastModel([reply('a'), { role: 'user', parts: [] }])).toBe('a')
  expect(lastModel([reply('a'), reply('b'), reply()])).toBe('b')
})
