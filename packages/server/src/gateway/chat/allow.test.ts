import { expect, it } from 'vitest'
import { isHeard, isSenderAllowed, strangerText } from './allow.ts'
import { errorKind } from './error-kind.ts'
import type { Incoming } from './platform.ts'

const from = (id: string, isBot: boolean): Incoming => ({
  ...{ key: 'm-1', address: 'group', text: 'hello' },
  chat: { kind: 'group', id: 'group', isAddressed: true },
  sender: { id, name: id, isBot },
  attachments: async () => [],
})

it('accepts messages from people and from listed bots, and from no other bot', () => {
  const chats = { chats: ['group'], users: [] }
  const listed = { ...chats, bots: ['helper'] }
  expect(isHeard(listed, from('ann', false))).toBe(true)
  expect(isHeard(listed, from('helper', true))).toBe(true)
  expect(isHeard(listed, from('stranger', true))).toBe(false)
  expect(isHeard(chats, from('helper', true))).toBe(false)
})

const alone = (id: string): Incoming => ({
  ...from(id, false),
  chat: { ...from(id, false).chat, kind: 'private', id: `with-${id}` },
})

it('admits everyone in a listed chat, and a listed person in private chats only', () => {
  const group = { chats: ['group'], users: [] }
  const person = { chats: [], users: ['ann'] }
  expect(isSenderAllowed(group, from('ann', false))).toBe(true)
  expect(isSenderAllowed(group, alone('ann'))).toBe(false)
  expect(isSenderAllowed(person, alone('ann'))).toBe(true)
  expect(isSenderAllowed(person, alone('bob'))).toBe(false)
  // An allowed person does not open a whole group.
  expect(isSenderAllowed(person, from('ann', false))).toBe(false)
  expect(isSenderAllowed({ chats: [], users: [] }, alone('ann'))).toBe(false)
})

it('tells an unlisted person which configuration line would admit them', () => {
  expect(strangerText('telegram', alone('ann'))).toMatch(
    /gateways\.telegram\.allow\.users: \["ann"\]$/,
  )
  expect(strangerText('discord', from('ann', false))).toMatch(
    /gateways\.discord\.allow\.chats: \["group"\]$/,
  )
})

it('reports the kind of an error without its message', () => {
  const facts = (over: object) => errorKind(Object.assign(new TypeError('said: hello'), over))
  expect(facts({})).toBe('TypeError')
  expect(facts({ code: 'ECONNRESET', status: 502 })).toBe('TypeError ECONNRESET 502')
  expect(facts({ code: 'TypeError', status: null })).toBe('TypeError')
  expect(facts({ code: 'x'.repeat(100) })).toHaveLength(80)
  expect([errorKind('said: hello'), errorKind(undefined)]).toEqual(['unknown', 'unknown'])
})
