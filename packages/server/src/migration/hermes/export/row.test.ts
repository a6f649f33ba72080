import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Handoff } from '#core/message/handoff/handoff'
import type { Message } from '#core/message/message'
import type { Entry } from '#core/store/tables/rows'
import { handoffRow, isOdd, messageRow, preservedNumbers, secondsOf } from './row.ts'

const user = (text: string, origin?: object): Message =>
  ({ role: 'user', parts: [{ type: 'text', text }], ...(origin && { origin }) }) as Message
const handoff = (changed: object = {}): Handoff =>
  ({
    ...{ version: 1, by: 'model', covers: 3, kept: 0, compactions: 1, summary: 'It went well.' },
    ...{ preserved: [], tasks: [], files: [], ledger: [] },
    ...changed,
  }) as Handoff
const entry = (body: unknown, meta: object = {}, kind = 'compaction') =>
  ({ kind, number: 4, at: 1_500, meta, body: body === null ? null : JSON.stringify(body) }) as Entry

describe('messageRow', () => {
  it('writes words as they are, with the time of their entry', () => {
    expect(messageRow(user('hello'), 1_500)).toEqual([
      { role: 'user', content: 'hello', timestamp: 1.5 },
    ])
  })

  it('marks lists, writes calls as text, and names the tool of a result', () => {
    const picture = { type: 'image', source: { kind: 'url', url: 'https://a.example' } } as const
    const [row] = messageRow({ role: 'user', parts: [{ type: 'text', text: 'see' }, picture] }, 0)
    expect(row?.['content']).toMatch(/^\0json:\[/)
    const call = { type: 'tool-call', id: 'c1', name: 'read', input: { a: 1 } } as const
    const [reply] = messageRow({ role: 'assistant', parts: [call] }, 0)
    expect(JSON.parse(String(reply?.['tool_calls']))).toMatchObject([
      { id: 'c1', function: { name: 'read' } },
    ])
    const result = {
      type: 'tool-result',
      callId: 'c1',
      name: 'read',
      output: [{ type: 'text', text: 'x' }],
    } as const
    const [answer] = messageRow({ role: 'tool', parts: [result] }, 0)
    expect(answer).toMatchObject({ role: 'tool', tool_call_id: 'c1', content: 'x' })
  })
})

describe('handoffRow', () => {
  it('is a summary in the words of Hermes', () => {
    const row = handoffRow(entry(handoff()))
    expect(row).toMatchObject({ role: 'user', timestamp: 1.5, _compressed_summary: 1 })
    expect(row?.['content']).toMatch(/^\[CONTEXT COMPACTION — REFERENCE ONLY\] .*It went well\./s)
  })

  it('leaves the text of a given summary as it is, with the mark once', () => {
    const marked = '[CONTEXT COMPACTION — REFERENCE ONLY] All of it.'
    const content = (summary: string) =>
      handoffRow(entry(handoff({ by: 'given', summary })))?.['content']
    expect(content(marked)).toBe(marked)
    expect(content('All of it.')).toBe(marked)
  })

  it('takes other columns and bytes as they were written from a row of Hermes', () => {
    const origin = {
      format: 'hermes',
      at: 7,
      fields: { timestamp: 9, extra: 'x', as_written: { content: 'raw' } },
    }
    expect(handoffRow(entry(handoff({ origin })))).toMatchObject({
      timestamp: 9,
      extra: 'x',
      content: 'raw',
    })
    const other = { ...origin, format: 'pi' }
    expect(handoffRow(entry(handoff({ origin: other })))).not.toHaveProperty('extra')
  })

  it('is kept together with the row that it shared', () => {
    const preserved = [{ number: 2, message: user('mine', { format: 'hermes', at: 7 }) }]
    expect(handoffRow(entry(handoff({ preserved }), { row: 7 }))?.['content']).toBe('mine')
    expect(handoffRow(entry(handoff({ preserved }), { row: 8 }))?.['content']).not.toBe('mine')
  })

  it('is null for a compaction that was erased or cleared, and for other entries', () => {
    expect(handoffRow(entry(null))).toBeNull()
    expect(handoffRow(entry({}))).toBeNull()
    expect(handoffRow(entry(handoff(), {}, 'input'))).toBeNull()
    expect(handoffRow(entry('its own words'))?.['content']).toContain('its own words')
  })
})

describe('preservedNumbers', () => {
  it('are the entries that a given handoff kept, without the row that it shares', () => {
    const preserved = [
      { number: 2, message: user('a', { format: 'hermes', at: 7 }) },
      { number: 3, message: user('b', { format: 'hermes', at: 8 }) },
    ]
    const numbers = (changed: object, meta = {}) => [
      ...preservedNumbers(entry(handoff({ preserved, ...changed }), meta)),
    ]
    expect(numbers({ by: 'given' })).toEqual([2, 3])
    expect(numbers({ by: 'given' }, { row: 7 })).toEqual([3])
    expect(numbers({ by: 'model' })).toEqual([])
  })
})

describe('values that JSON cannot express', () => {
  it.each(['blob', 'integer', 'real'])('are objects with the one key %s', (key) => {
    expect([isOdd({ [key]: 'x' }), isOdd({ [key]: 'x', a: 1 }), isOdd(key)]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('are no other objects', () => {
    expect([isOdd({ text: 'x' }), isOdd({}), isOdd([]), isOdd(null)]).toEqual([
      false,
      false,
      false,
      false,
    ])
  })

  it('times give the same millisecond again', () => {
    expect(secondsOf(1_500)).toBe(1.5)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), (ms) => {
        expect(Math.floor(secondsOf(ms) * 1_000)).toBe(ms)
      }),
    )
  })
})
