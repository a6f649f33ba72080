import { expect, it } from 'vitest'
import type { Message } from '#core/message/message'
import { findPace, findStep } from './commands.ts'

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })

it('a message that begins with slowly: sets the pace, and its rest is obeyed', () => {
  const messages = [user('slowly: say One. Two.')]
  expect(findPace(messages)).toBeGreaterThan(0)
  expect(findStep(messages)).toMatchObject({ text: 'One. Two.' })
})

it('neither an earlier message nor a line within one sets the pace', () => {
  expect(findPace([user('slowly: Hello.'), user('Hello.')])).toBeUndefined()
  expect(findPace([user('Summarize:\nslowly: Hello.')])).toBeUndefined()
})
