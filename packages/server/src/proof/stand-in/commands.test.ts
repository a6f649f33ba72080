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
