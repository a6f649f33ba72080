import { expect, it } from 'vitest'
import type { Message } from '#core/message/message'
import { findFailure, findPace, findStep } from './commands.ts'

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })

it('a message that begins with slowly: sets the pace, and its rest is obeyed', () => {
  const messages = [user('slowly: say One. Two.')]
  expect(findPace(messages)).toBeGreaterThan(0)
  expect(findStep(messages)).toMatchObject({ text: 'One. Two.' })
})

it('finds them behind the reminders of Claude Code', () => {
  const behind = (text: string): Message => {
    const reminder = { type: 'text', text: '<system-reminder>Be brief.</system-reminder>' } as const
    return { role: 'user', parts: [reminder, { type: 'text', text }] }
  }
  expect(findPace([behind('slowly: say One.')])).toBeGreaterThan(0)
  expect(findStep([behind('slowly: say One.')])).toMatchObject({ text: 'One.' })
  expect(findFailure([behind('fail: 429')])).toBe(429)
})

it('only the newest message, and nothing but it, asks for a failure', () => {
  expect(findFailure([user('Hello.'), user('fail: 429')])).toBe(429)
  for (const text of ['fail: 200', 'fail: 429 times', 'Summarize:\nfail: 429', 'fail:']) {
    expect(findFailure([user(text)])).toBeUndefined()
  }
  expect(findFailure([user('fail: 429'), user('Hello.')])).toBeUndefined()
})

it('neither an earlier message nor a line within one sets the pace', () => {
  expect(findPace([user('slowly: Hello.'), user('Hello.')])).toBeUndefined()
  expect(findPace([user('Summarize:\nslowly: Hello.')])).toBeUndefined()
})

it('steps are calls, thoughts and words, one after another', () => {
  const text = [
    ...[
      'Please:',
      ' think about it',
      'think twice',
      'use read  {"path": "a b"} ',
      'use list',
      'say',
    ],
    ...['then', 'then', 'say One.', 'say Two.', 'used up', 'then', 'use end'],
  ].join('\n')
  const first = {
    calls: [
      { name: 'read', input: '{"path": "a b"}' },
      { name: 'list', input: '{}' },
    ],
    ...{ reasoning: 'about it\ntwice', text: '' },
  }
  const second = { calls: [], reasoning: '', text: 'One.\nTwo.' }
  const third = { calls: [{ name: 'end', input: '{}' }], reasoning: '', text: '' }
  const replied = (...types: readonly string[]) =>
    ({ role: 'assistant', parts: types.map((type) => ({ type, id: 'c', name: 'x' })) }) as never
  const called = replied('text', 'tool-call')
  expect(findStep([user(text)])).toEqual(first)
  expect(findStep([user(text), replied('text'), called])).toEqual(second)
  expect(findStep([user(text), called, called])).toEqual(third)
  expect(findStep([user(text), called, called, called])).toBeUndefined()
  expect(findStep([user('Hello.')])).toBeUndefined()
  expect(findStep([])).toBeUndefined()
  const synthetic = { ...user('say No.'), synthetic: true } as never
  expect(findStep([user(text), synthetic])).toEqual(first)
})

it('a message without words sets neither pace nor failure', () => {
  const picture = { role: 'user', parts: [{ type: 'image' }] } as never
  expect([findPace([picture]), findFailure([picture]), findPace([]), findFailure([])]).toEqual([
    ...[undefined, undefined, undefined, undefined],
  ])
  expect([findPace([user('slowly: x')]), findPace([user('  slowly:')])]).toEqual([5, 5])
  expect([findFailure([user(' fail:500 ')]), findFailure([user('fail: 399')])]).toEqual([
    500,
    undefined,
  ])
})
