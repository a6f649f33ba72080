import { describe, expect, it } from 'vitest'
import {
  assistant,
  handoff,
  image,
  system,
  toolCall,
  toolResult,
  user,
} from '../../../../test/support/builders.ts'
import type { Message } from '../message/message.ts'
import { textOf } from '../message/text.ts'
import { assemble, clipTail, systemMessagesOf, withoutBodies } from './assemble.ts'
import type { CompactPlan } from './plan/plan.ts'

/** One token per character, and five per message. */
const counters = {
  countTokens: (text: string) => text.length,
  countMessage: (message: Message) => textOf(message).length + 5,
}

function planOf(values: Partial<CompactPlan>): CompactPlan {
  return {
    ...{ kind: 'compact', reason: 'requested', trigger: 'manual', tokensBefore: 9_000 },
    ...{ layout: { fixedTo: 0, headFrom: 0, firstNumber: 1 }, cut: 0, incoming: 99 },
    ...{ targetTokens: 1_000 },
    allotment: { keep: 0, user: 0, ledger: 0, summary: 0, files: 0, tasks: 0 },
    ...values,
  }
}

const long = 'lorem ipsum '.repeat(50)

describe('clipTail', () => {
  const messages = [
    ...[system('Be careful.'), handoff({ covers: 40 }), user('Go on.'), toolCall('a')],
    ...[toolResult('a', long), assistant(long), user(long)],
  ]
  const layout = { fixedTo: 1, handoffAt: 1, headFrom: 2, firstNumber: 41 }
  const clipped = (values: Partial<CompactPlan> = {}) => {
    const plan = planOf({ layout, cut: 3, clipTokens: 200, incoming: messages.length, ...values })
    return clipTail({ messages, plan, ...counters })
  }

  it('clips large results and the newest request, and names where the whole result is', () => {
    const [call, result, reply, request] = clipped()
    expect([call, reply]).toEqual([messages[3], messages[5]])
    for (const each of [result, request]) {
      expect(each && counters.countMessage(each)).toBeLessThanOrEqual(200)
    }
    // The second message after the head's first, which is number 41.
    expect(result && textOf(result)).toContain('the original is message 43 of the transcript')
  })

  it('names the entry in a session', () => {
    const entries = [[], [], [107], [108], [109], [110], [111]]
    const [, result] = clipped({ layout: { ...layout, entries } })
    expect(result && textOf(result)).toContain('the original is message 109 of the transcript')
  })

  it('leaves small results and the incoming request unchanged, and everything if there is no limit', () => {
    const size = counters.countMessage(toolResult('a', long))
    expect(clipped({ clipTokens: size })[1]).toBe(messages[4])
    expect(clipped({ clipTokens: size - 1 })[1]).not.toEqual(messages[4])
    expect(clipped({ incoming: 6 })[3]).toBe(messages[6])
    expect(clipped({ incoming: 4 })).toEqual(messages.slice(3))
    const { clipTokens: _, ...whole } = planOf({ layout, cut: 3 })
    expect(clipTail({ messages, plan: whole, ...counters })).toEqual(messages.slice(3))
  })

  it('leaves a request unchanged if another message follows it', () => {
    const followed = [user(long), assistant('Yes.')]
    const plan = planOf({ clipTokens: 200 })
    expect(clipTail({ messages: followed, plan, ...counters })).toEqual(followed)
  })
})

describe('assemble', () => {
  const pins = [system('A pin.')]
  const messages = [
    ...[system('First.'), user('protected'), user('one'), system('Late.'), assistant('two')],
    ...[user('open'), user('tail')],
  ]
  const layout = { fixedTo: 2, headFrom: 2, firstNumber: 2 }
  const texts = (plan: CompactPlan, made?: ReturnType<typeof handoff>) =>
    assemble({
      ...{ messages, plan, pins, ...counters },
      ...(made && { handoff: made.handoff }),
    }).map((message) => (message.role === 'handoff' ? 'HANDOFF' : textOf(message)))

  it('puts system text, pins, protected messages, handoff, open requests and tail in this order', () => {
    expect(texts(planOf({ layout, cut: 6, open: [5] }), handoff())).toEqual([
      ...['First.', 'A pin.', 'Late.', 'protected', 'HANDOFF', 'open', 'tail'],
    ])
  })

  it('leaves the earlier handoff in its place if clipping was enough', () => {
    const earlier = [system('First.'), handoff(), user('tail')]
    const plan = planOf({ layout: { fixedTo: 1, headFrom: 2, firstNumber: 11 }, cut: 2 })
    const after = assemble({ messages: earlier, plan, pins, ...counters })
    expect(after).toEqual([earlier[0], ...pins, ...earlier.slice(1)])
  })
})

it('returns each system text within the range once, at its last place', () => {
  const [again, other] = [system('A'), system('B')]
  const messages = [system('A'), other, user('A'), again, system('C')]
  expect(systemMessagesOf(messages, 0, 4)).toEqual([other, again])
  expect(systemMessagesOf(messages, 0, 4)[1]).toBe(again)
  expect(systemMessagesOf(messages, 2, 5).map(textOf)).toEqual(['A', 'C'])
})

it('removes the texts that can be clipped from a message', () => {
  const shown = { ...user('words'), parts: [...user('words').parts, image] }
  expect(withoutBodies(shown)).toEqual({ ...shown, parts: [image] })
  expect(withoutBodies(toolResult('a', 'words'))).toMatchObject({
    parts: [{ callId: 'a', output: [] }],
  })
  expect(withoutBodies(assistant('words'))).toEqual(assistant('words'))
})
