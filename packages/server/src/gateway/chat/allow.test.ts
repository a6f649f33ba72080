import { expect, it } from 'vitest'
import { isHeard } from './allow.ts'
import type { Incoming } from './platform.ts'

const from = (id: string, isBot: boolean): Incoming => ({
  ...{ key: 'm-1', address: 'group', text: 'hello' },
  chat: { kind: 'group', id: 'group', isAddressed: true },
  sender: { id, name: id, isBot },
  attachments: async () => [],
})

it('hears people and the bots that the operator listed, and no other bot', () => {
  const chats = { chats: ['group'], users: [] }
  const listed = { ...chats, bots: ['helper'] }
  expect(isHeard(listed, from('ann', false))).toBe(true)
  expect(isHeard(listed, from('helper', true))).toBe(true)
  expect(isHeard(listed, from('stranger', true))).toBe(false)
  expect(isHeard(chats, from('helper', true))).toBe(false)
})
