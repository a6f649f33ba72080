import { describe, expect, it } from 'vitest'
import type { AssistantMessage } from '#core/message/message'
import { judgeAnswer, withoutCalls } from './answer-verdict.ts'

type Part = AssistantMessage['parts'][number]
const text = (words: string): Part => ({ type: 'text', text: words })
const call = (id: string): Part => ({ type: 'tool-call', id, name: 'read', input: {} })
const picture: Part = { type: 'image', source: { kind: 'url', url: 'https://a.example' } }
const thought: Part = { type: 'reasoning', text: 'hm' }
const reply = (...parts: readonly Part[]): AssistantMessage => ({ role: 'assistant', parts })

describe('judgeAnswer', () => {
  it.each(['stop', 'tool-calls', 'other'] as const)(
    'accepts an answer that ends with %s',
    (finish) => {
      for (const parts of [[text('a')], [call('1')], [picture], [thought, text('a')]]) {
        expect(judgeAnswer(finish, reply(...parts), 9)).toEqual({
          kind: 'take',
          message: reply(...parts),
        })
      }
      expect(judgeAnswer(finish, null, 9)).toEqual({ kind: 'empty' })
      expect(judgeAnswer(finish, reply(thought, text(' \n')), 9)).toEqual({ kind: 'empty' })
      expect(judgeAnswer(finish, reply(), 9)).toEqual({ kind: 'empty' })
    },
  )

  it.each([
    ['length', '[The answer reached its limit of 9 tokens and ends here.]'],
    ['content-filter', "[The provider's content filter ended the answer here.]"],
  ] as const)(
    'keeps the words of an answer cut by %s, says so, and runs none of its calls',
    (finish, note) => {
      expect(judgeAnswer(finish, reply(text('a'), call('1')), 9)).toEqual({
        kind: 'take',
        message: reply(text('a'), text(note)),
      })
    },
  )

  it.each([
    ['length', /limit of 9 tokens before anything was said/],
    ['content-filter', /content filter ended the answer before anything/],
  ] as const)('gives up an answer that %s cut before its first word', (finish, reason) => {
    for (const said of [null, reply(), reply(thought, call('1'), text(' '))]) {
      const verdict = judgeAnswer(finish, said, 9)
      expect(verdict).toEqual({ kind: 'give-up', reason: expect.stringMatching(reason) })
    }
  })

  it('gives each call an id of its own, and leaves ids that are', () => {
    const verdict = judgeAnswer('tool-calls', reply(call('a'), call('a'), call('b')), 9)
    const ids =
      verdict.kind === 'take' ? verdict.message.parts.map((part) => 'id' in part && part.id) : []
    expect(new Set(ids).size).toBe(3)
    expect([ids[0], ids[2]]).toEqual(['a', 'b'])
    const long = judgeAnswer('tool-calls', reply(call('x'.repeat(128)), call('y'.repeat(129))), 9)
    const lengths =
      long.kind === 'take'
        ? long.message.parts.map((part) => ('id' in part ? String(part.id).length : 0))
        : []
    expect(lengths[0]).toBe(128)
    expect(lengths[1]).toBeLessThanOrEqual(128)
  })
})

describe('withoutCalls', () => {
  it('keeps everything else', () => {
    expect(withoutCalls(reply(thought, call('1'), text('a')))).toEqual(reply(thought, text('a')))
  })
})
