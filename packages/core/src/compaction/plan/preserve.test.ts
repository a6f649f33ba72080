import { describe, expect, it } from 'vitest'
import {
  assistant,
  handoffOf,
  image,
  notice,
  toolCall,
  toolResult,
  user,
} from '../../../../../test/support/builders.ts'
import type { Handoff } from '../../message/handoff/handoff.ts'
import type { Message } from '../../message/message.ts'
import { textOf } from '../../message/text.ts'
import type { CompactPlan } from './plan.ts'
import { type Preserved, preserveUserMessages, TITLE_TOKENS } from './preserve.ts'

/** One token per character, so that budgets can be read from the texts. */
const countTokens = (text: string) => text.length
const countMessage = (message: Message) => textOf(message).length

function preserve(
  messages: readonly Message[],
  options: {
    cut?: number
    userTokens?: number
    earlier?: Handoff
    countMessage?: (message: Message) => number
  } = {},
): Preserved {
  const { cut = messages.length, userTokens = 10_000, earlier } = options
  const allotment = { keep: 0, user: userTokens, ledger: 0, summary: 0, files: 0, tasks: 0 }
  const layout = { fixedTo: 0, headFrom: 0, firstNumber: 1 }
  const plan = { cut, layout, allotment } as CompactPlan
  return preserveUserMessages({
    messages,
    plan,
    ...(earlier !== undefined && { earlier }),
    countTokens,
    countMessage: options.countMessage ?? countMessage,
  })
}

const states = (preserved: Preserved) =>
  preserved.messages.map(({ number, state }) => `${number} ${state}`)

describe('preserved user messages', () => {
  it('keep the newest within the budget, oldest first in the result [S8]', () => {
    const messages = ['a', 'b', 'c', 'd'].flatMap((name) => [
      user(name.repeat(90)),
      assistant('ok'),
    ])
    const kept = preserve(messages, { userTokens: 220 })
    expect(kept.messages.map(({ number }) => number)).toEqual([5, 7])
    expect(kept.dropped).toBe(2)
  })

  it('are open while the words before a call are a message of their own', () => {
    const asked = [user('first'), assistant('Done.'), user('second'), assistant('Let me look:')]
    const running = [...asked, toolCall('a', {}), toolResult('a', 'seen')]
    expect(states(preserve(running))).toEqual(['1 answered', '3 open'])
    expect(states(preserve([...running, assistant('Here it is.')]))).toEqual([
      '1 answered',
      '3 answered',
    ])
  })

  it('never give up words for an image', () => {
    const look: Message = { role: 'user', parts: [{ type: 'text', text: 'Look.' }, image] }
    const messages = [user('a'.repeat(90)), user('b'.repeat(90)), look, assistant('ok')]
    const countMessage = (message: Message) =>
      textOf(message).length + (textOf(message).includes('[image]') ? 200 : 0)
    const kept = preserve(messages, { userTokens: 300, countMessage })
    expect(states(kept)).toEqual(['1 answered', '2 answered', '3 answered'])
  })

  it('cut the one that crosses the budget in the middle, and drop what is older [S8]', () => {
    const messages = [
      user('old'),
      assistant('ok'),
      user(`START ${'x'.repeat(900)} END`),
      assistant('ok'),
    ]
    const kept = preserve(messages, { userTokens: 100 })
    expect(kept.messages).toHaveLength(1)
    const [only] = kept.messages
    expect(only?.truncated).toBe(true)
    const text = only === undefined ? '' : textOf(only.message)
    expect(text).toMatch(/^START x+\n\[… \d+ characters of message 3 left out …\]\nx+ END$/)
    expect(text.length).toBeLessThanOrEqual(100)
    expect(kept.dropped).toBe(1)
    // With more space it is cut further, so that the older one is kept as well.
    const both = preserve(messages, { userTokens: 300 })
    expect(both.dropped).toBe(0)
    const size = both.messages.reduce((sum, each) => sum + countMessage(each.message), 0)
    expect(size + 2 * TITLE_TOKENS).toBeLessThanOrEqual(300)
  })

  it('drop an older request that a newer one repeats with other numbers before requests made once', () => {
    const routine = Array.from({ length: 12 }, (_, at) => [
      user(`Look into part ${at} of the survey and note the depth.`),
      assistant('ok'),
    ]).flat()
    const messages = [user('The report is for the harbour master.'), assistant('ok'), ...routine]
    const kept = preserve(messages, { userTokens: 200 })
    const texts = kept.messages.map(({ message }) => textOf(message))
    expect(texts[0]).toBe('The report is for the harbour master.')
    expect(texts.at(-1)).toBe('Look into part 11 of the survey and note the depth.')
    expect(kept.dropped).toBe(13 - texts.length)
    expect(kept.dropped).toBeGreaterThan(5)
    // If there is space for all of them, none is left out.
    expect(preserve(messages, { userTokens: 2_000 }).messages).toHaveLength(13)
  })

  it('cut a long paste before they drop older requests', () => {
    const messages = [
      user('The code word is heliotrope.'),
      assistant('ok'),
      user(`Why does this fail?\n${'{"a":1,"b":[2,3]},'.repeat(80)}`),
      assistant('ok'),
    ]
    const kept = preserve(messages, { userTokens: 400 })
    expect(kept.dropped).toBe(0)
    const [first, second] = kept.messages.map(({ message }) => textOf(message))
    expect(first).toBe('The code word is heliotrope.')
    expect(second).toMatch(/^Why does this fail\?\n\{/)
  })

  it('leave out what the host put into a message', () => {
    const reminder = `<system-reminder>\n${'Tools: a, b, c. '.repeat(200)}\n</system-reminder>`
    const messages = [
      user(`${reminder}\nThe code word is heliotrope.`),
      assistant('ok'),
      user(reminder),
      assistant('ok'),
    ]
    const kept = preserve(messages, { userTokens: 300 })
    expect(kept.messages.map(({ message }) => textOf(message))).toEqual([
      'The code word is heliotrope.',
    ])
  })

  it('are answered when the turn that took them ended with a reply [S27]', () => {
    const messages = [
      user('one'),
      assistant('done'),
      user('two'),
      toolCall('x'),
      toolResult('x', 'y'),
    ]
    expect(states(preserve(messages))).toEqual(['1 answered', '3 open'])
  })

  it('count as answered if the reply is in the tail', () => {
    const messages = [user('one'), toolCall('x'), toolResult('x', 'y'), assistant('done')]
    expect(states(preserve(messages, { cut: 1 }))).toEqual(['1 answered'])
  })

  it('share the answer when several were taken by one turn', () => {
    const messages = [
      user('one'),
      toolCall('x'),
      toolResult('x', 'y'),
      user('also'),
      assistant('both'),
    ]
    expect(states(preserve(messages))).toEqual(['1 answered', '4 answered'])
  })

  it('never call words beside a tool call an answer', () => {
    const calling: Message = {
      role: 'assistant',
      parts: [{ type: 'text', text: 'let me look' }, ...toolCall('x').parts],
    }
    expect(states(preserve([user('one'), calling, toolResult('x', 'y')]))).toEqual(['1 open'])
  })

  it('leave out what a program wrote in the user’s place', () => {
    expect(states(preserve([notice('reminder'), user('one')]))).toEqual(['2 open'])
  })

  it('keep images as images [S9]', () => {
    const kept = preserve([{ role: 'user', parts: [{ type: 'text', text: 'see' }, image] }])
    expect(kept.messages[0]?.message.parts).toEqual([{ type: 'text', text: 'see' }, image])
  })

  it('give up an image before the words of older messages', () => {
    const heavy = (message: Message) =>
      countMessage(message) + (message.role === 'user' && message.parts.includes(image) ? 900 : 0)
    const messages: Message[] = [
      user('older'),
      { role: 'user', parts: [{ type: 'text', text: 'see' }, image] },
    ]
    const kept = preserve(messages, { userTokens: 300, countMessage: heavy })
    expect(kept.messages.map(({ message }) => textOf(message))).toEqual([
      'older',
      'see\n[image of message 2 left out]',
    ])
  })

  it('carry on from the earlier handoff, closing what was answered since', () => {
    const earlier = handoffOf({
      preserved: [{ message: user('long ago'), number: 1, state: 'open' }],
    })
    expect(states(preserve([assistant('done')], { earlier }))).toEqual(['1 answered'])
    expect(states(preserve([toolCall('x'), toolResult('x', 'y')], { earlier }))).toEqual(['1 open'])
  })

  it('keep the open request whatever the budget', () => {
    const kept = preserve([user('do it '.repeat(100))], { userTokens: 0 })
    expect(states(kept)).toEqual(['1 open'])
  })
})
