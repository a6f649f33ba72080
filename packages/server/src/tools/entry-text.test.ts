import { describe, expect, it } from 'vitest'
import type { Entry } from '#core/store/tables/rows'
import { entryLabel, entryText } from './entry-text.ts'

const entry = (kind: string, body: unknown, meta: object = {}) =>
  ({ kind, number: 7, at: 0, meta, body: body === null ? null : JSON.stringify(body) }) as Entry
const parts = [{ type: 'text', text: 'hello' }]

describe('entryText', () => {
  it.each<[string, Entry, string]>([
    ['a message', entry('input', { message: { role: 'user', parts } }), 'hello'],
    ['a control', entry('input', { control: 'stop' }), '{"control":"stop"}'],
    ['an answer', entry('assistant', { role: 'assistant', parts }), 'hello'],
    ['an answer of another form', entry('assistant', 'x'), 'x'],
    ['a result', entry('result', [...parts, { type: 'text', text: '' }, ...parts]), 'hello\nhello'],
    ['a result of another form', entry('result', { a: 1 }), '{"a":1}'],
    ['a compaction', entry('compaction', { summary: 'short' }), 'short'],
    ['a compaction without words', entry('compaction', { a: 1 }), '{"a":1}'],
    [
      'the end of a turn',
      entry('turn', {}, { turn: 3, ended: 'stopped' }),
      'turn 3 ended: stopped',
    ],
    ['a setting', entry('settings', { a: 1 }), '{"a":1}'],
    ['an erased entry', entry('input', null), '[erased]'],
  ])('reads %s', (_, of, text) => {
    expect(entryText(of)).toBe(text)
  })
})

describe('entryLabel', () => {
  it.each<[Entry, string]>([
    [entry('input', '', { lane: 'user' }), 'person'],
    [entry('input', '', { lane: 'notification' }), 'notification'],
    [entry('assistant', ''), 'you'],
    [entry('result', '', { call: 'c1' }), 'result of c1'],
    [entry('compaction', ''), 'compaction'],
  ])('names the speaker and the time', (of, name) => {
    expect(entryLabel(of)).toBe(`#7 ${name}, 1970-01-01T00:00Z`)
  })
})
