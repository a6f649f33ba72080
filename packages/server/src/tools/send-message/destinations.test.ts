import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import {
  DESTINATION,
  mayWrite,
  reachOf,
  readDestinations,
  unreachableText,
} from './destinations.ts'

const own = 'You may write to sessions of the same people and to sessions that wrote to this one'

it.each([
  ['*', true],
  ['agent:ada', true],
  [`agent:${'a'.repeat(64)}`, true],
  [`agent:${'a'.repeat(65)}`, false],
  ['agent:-a', false],
  ['session:s_1-x', true],
  [`session:${'s'.repeat(65)}`, false],
  ['session:', false],
  ['ada', false],
  ['agent:a b', false],
])('%s names a destination: %s', (text, isOne) => {
  expect(DESTINATION.test(text)).toBe(isOne)
})

it('reads the list of the operator by kind', () => {
  expect(readDestinations(['agent:ada', 'session:s1', 'agent:bo'])).toEqual({
    ...{ isOpen: false, agents: new Set(['ada', 'bo']), sessions: new Set(['s1']) },
  })
  expect(readDestinations(['*'])).toEqual({
    ...{ isOpen: true, agents: new Set(), sessions: new Set() },
  })
})

it.each([
  [[], `${own}.`],
  [['agent:ada', 'session:s1'], `${own}; also to the agent ada, the session s1.`],
  [['*', 'agent:ada'], 'You may write to any session.'],
])('tells the model of %j where it may write', (listed, text) => {
  const to = readDestinations(listed)
  expect(reachOf(to)).toBe(text)
  expect(unreachableText(to)).toBe(
    `Not sent: there is no such destination, or this session may not write to it. ${text}`,
  )
})

it.each([
  ['of the same people', 'people', [], false, true],
  ['of others', 'others', [], false, false],
  ['of others that has written', 'others', [], true, true],
  ['of others, if all are open', 'others', ['*'], false, true],
  ['of others that is listed', 'others', ['session:s2'], false, true],
  ['of others, if another is listed', 'others', ['session:s3', 'agent:s2'], false, false],
])('a session %s may be written to', (_, scope, listed, isAnswer, may) => {
  const receiver = { id: sessionId('s2'), scope }
  const rule = { to: readDestinations(listed), isAnswer }
  expect(mayWrite({ scope: 'people' } as never, receiver as never, rule)).toBe(may)
})
