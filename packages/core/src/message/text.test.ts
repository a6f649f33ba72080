import { describe, expect, it } from 'vitest'
import type { Message, Part } from './message.ts'
import { textOf } from './text.ts'

describe('textOf', () => {
  it.each<[Part, string]>([
    [{ type: 'text', text: 'a\nb' }, 'a\nb'],
    [{ type: 'image', source: { kind: 'url', url: 'https://x' } }, '[image]'],
    [{ type: 'file', source: { kind: 'id', id: 'f' } }, '[file]'],
    [{ type: 'file', source: { kind: 'id', id: 'f' }, name: 'a.pdf' }, '[file a.pdf]'],
    [{ type: 'tool-call', id: 'a', name: 'ls', input: { a: 1 } }, '[call ls] {"a":1}'],
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
