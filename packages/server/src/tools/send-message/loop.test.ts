import { expect, it } from 'vitest'
import { judgeLoop, LOOP_RULE, type Sign } from './loop.ts'

const rule = { messagesMax: 2, tokensMin: 40 }
const sign = (kind: Sign['kind'], at: number, tokens?: number): Sign => ({
  ...{ kind, at, ...(tokens !== undefined && { tokens }) },
})
const messages = (count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => sign('message', from + index, 5))
const send = { kind: 'send' }
const hold = (count: number, isFirst = true) => ({ kind: 'hold', isFirst, messages: count })

it('is six short messages of less than 40 tokens', () => {
  expect(LOOP_RULE).toEqual({ messagesMax: 6, tokensMin: 40 })
})

it.each<[string, readonly Sign[], number, object]>([
  ['nothing', [], 5, send],
  ['one message', messages(1), 5, send],
  ['two messages', messages(2), 5, hold(2)],
  ['two messages, the next is just short', messages(2), 39, hold(2)],
  ['two messages, the next is substantial', messages(2), 40, send],
  [
    'two, and a substantial one between',
    [...messages(1), sign('message', 5, 40), sign('message', 6, 5)],
    5,
    send,
  ],
  ['two, one of them just short', [...messages(1), sign('message', 5, 39)], 5, hold(2)],
  ['two after other mail', [sign('other', 0), ...messages(2)], 5, hold(2)],
  ['two at the moment of other mail', [sign('other', 1), ...messages(2)], 5, send],
  ['two before other mail', [...messages(2), sign('other', 9)], 5, send],
  ['two, of which one was held', [...messages(2), sign('held', 9, 5)], 5, hold(2, false)],
  ['one that was sent and one held', [...messages(1), sign('held', 9, 5)], 5, send],
  ['two, and a third agent behind', [...messages(2), sign('third', 9, 5)], 5, send],
  [
    'seven, and third agents between',
    messages(7).flatMap((each) => [each, sign('third', each.at, 5)]),
    5,
    send,
  ],
  [
    'eight, and third agents between',
    messages(8).flatMap((each) => [each, sign('third', each.at, 5)]),
    5,
    hold(8),
  ],
  ['eight, and a third agent with much to say', [...messages(8), sign('third', 20, 40)], 5, send],
  ['eight, out of order', [...messages(8).toReversed(), sign('third', 5, 5)], 5, hold(2)],
])('after %s', (_, signs, tokens, verdict) => {
  expect(judgeLoop(signs, { tokens }, rule)).toEqual(verdict)
})
