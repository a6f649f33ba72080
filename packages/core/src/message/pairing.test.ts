import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversation, messageList } from '../../../../test/support/generators.ts'
import { tries } from '../../../../test/support/seeded-random.ts'
import { costOfTenfold } from '../../../../test/support/timing.ts'
import type { AssistantPart, Message, ToolResultPart } from './message.ts'
import { alignBack, alignForward, openCalls, repairPairs } from './pairing.ts'

const isClean = (messages: readonly Message[], index: number) =>
  alignBack(messages, index) === index
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const reply = (...parts: AssistantPart[]): Message => ({ role: 'assistant', parts })
const text = (value: string): AssistantPart => ({ type: 'text', text: value })
const call = (id: string): AssistantPart => ({ type: 'tool-call', id, name: 'bash', input: {} })
const result = (callId: string, output = `out ${callId}`): ToolResultPart => ({
  type: 'tool-result',
  callId,
  output: [{ type: 'text', text: output }],
})
const results = (...parts: ToolResultPart[]): Message => ({ role: 'tool', parts })
const sealed: AssistantPart = {
  type: 'reasoning',
  text: '',
  sealed: { provider: 'openai', value: { type: 'reasoning', id: 'rs_1', summary: [] } },
}

/** Roles, ids and texts: enough to see where everything went. */
function outline(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    if (message.role === 'handoff') return 'handoff'
    const parts = message.parts.map((part) => {
      if (part.type === 'tool-call') return `call ${part.id}`
      if (part.type === 'tool-result') return `result ${part.callId}${part.isError ? ' error' : ''}`
      return part.type === 'text' ? part.text.slice(0, 12) : part.type
    })
    return `${message.role}: ${parts.join(', ')}`
  })
}

const kinds = (messages: readonly Message[]) =>
  repairPairs(messages).repairs.map(({ kind, at }) => `${kind} @${at}`)

describe('repairPairs', () => {
  it('returns well paired messages as the same array', () => {
    fc.assert(
      fc.property(conversation(), (messages) => {
        expect(repairPairs(messages).messages).toBe(messages)
      }),
      { numRuns: tries(200) },
    )
  })

  it('accepts a reply in several messages with its results after the last one', () => {
    const messages = [
      reply(sealed),
      reply(call('a')),
      reply(call('b')),
      results(result('b')),
      results(result('a')),
    ]
    expect(repairPairs(messages).messages).toBe(messages)
  })

  it('changes nothing in messages that it has repaired', () => {
    fc.assert(
      fc.property(messageList(), (messages) => {
        const once = repairPairs(messages)
        expect(repairPairs(once.messages)).toEqual({ messages: once.messages, repairs: [] })
        expect(openCalls(once.messages)).toEqual([])
      }),
      { numRuns: tries(500) },
    )
  })

  it('loses no output of any tool', () => {
    fc.assert(
      fc.property(messageList(), (messages) => {
        const texts = (list: readonly Message[]) =>
          list.flatMap((message) => (message.role === 'handoff' ? [] : [...message.parts]))
        const flat = JSON.stringify(repairPairs(messages).messages)
        for (const part of texts(messages)) {
          if (part.type !== 'tool-result') continue
          for (const output of part.output) {
            if (output.type === 'text')
              expect(flat).toContain(JSON.stringify(output.text).slice(1, -1))
          }
        }
      }),
      { numRuns: tries(300) },
    )
  })

  it('keeps a result without its call as a note after the results around it', () => {
    const messages = [reply(call('a')), results(result('x'), result('a')), user('go on')]
    expect(outline(repairPairs(messages).messages)).toEqual([
      'assistant: call a',
      'tool: result a',
      'user: [Output of a, out x',
      'user: go on',
    ])
    expect(kinds(messages)).toEqual(['orphan-result @1'])
  })

  it('answers an unanswered call directly after it with an error', () => {
    const messages = [user('go'), reply(call('a')), reply(text('stopped')), user('again')]
    expect(outline(repairPairs(messages).messages)).toEqual([
      'user: go',
      'assistant: call a',
      'tool: result a error',
      'assistant: stopped',
      'user: again',
    ])
    expect(kinds(messages)).toEqual(['unanswered-call @1'])
  })

  it('moves a late result to the results of its step', () => {
    const messages = [
      reply(call('a'), call('b')),
      results(result('a')),
      user('wait'),
      results(result('b')),
    ]
    expect(outline(repairPairs(messages).messages)).toEqual([
      'assistant: call a, call b',
      'tool: result a',
      'tool: result b',
      'user: wait',
    ])
    expect(kinds(messages)).toEqual(['late-result @3'])
  })

  it('renames a call id used twice together with its result, in order', () => {
    const messages = [
      reply(call('a'), call('a')),
      results(result('a', 'first'), result('a', 'second')),
    ]
    const repaired = repairPairs(messages).messages
    expect(outline(repaired)).toEqual(['assistant: call a, call a_2', 'tool: result a, result a_2'])
    expect(JSON.stringify(repaired[1])).toMatch(/"callId":"a".*first.*"callId":"a_2".*second/)
    expect(kinds(messages)).toEqual(['duplicate-call-id @0'])
  })

  it('gives a result to the newest step that waits for its id', () => {
    const messages = [reply(call('a')), user('restarted'), reply(call('a')), results(result('a'))]
    expect(outline(repairPairs(messages).messages)).toEqual([
      'assistant: call a',
      'tool: result a error',
      'user: restarted',
      'assistant: call a_2',
      'tool: result a_2',
    ])
  })

  it('keeps the first of two results, and the second as a note', () => {
    const messages = [reply(call('a')), results(result('a', 'one')), results(result('a', 'two'))]
    expect(outline(repairPairs(messages).messages)).toEqual([
      'assistant: call a',
      'tool: result a',
      'user: [Output of a, two',
    ])
    expect(kinds(messages)).toEqual(['duplicate-result @2'])
  })

  it('names calls without an id and keeps their results', () => {
    const messages = [reply(call('')), results(result(''))]
    expect(outline(repairPairs(messages).messages)).toEqual([
      'assistant: call call',
      'tool: result call',
    ])
    expect(kinds(messages)).toEqual(['empty-call-id @0'])
  })

  it('distinguishes parts that are the same object', () => {
    const one = reply(call('a'))
    const answer = results(result('a'))
    expect(outline(repairPairs([one, answer, one, answer]).messages)).toEqual([
      'assistant: call a',
      'tool: result a',
      'assistant: call a_2',
      'tool: result a_2',
    ])
  })

  it('takes time in proportion to the list, even if all ids collide', () => {
    const hostile = (count: number): Message[] => [
      reply(...Array.from({ length: count }, () => call('a'))),
      user('between'),
      results(...Array.from({ length: count * 2 }, () => result('a'))),
    ]
    const prepare = (count: number) => {
      const messages = hostile(count)
      return () => repairPairs(messages)
    }
    // Linear is 10, quadratic 100.
    expect(costOfTenfold(prepare, { size: 2_000, floorMs: 3, clearlyLinear: 30 })).toBeLessThan(40)
  })
})

describe('openCalls', () => {
  it('names the calls that wait, with their message', () => {
    const messages = [
      reply(call('a'), call('b')),
      results(result('a')),
      user('?'),
      reply(call('c')),
    ]
    expect(openCalls(messages).map(({ at, call }) => [at, call.id])).toEqual([
      [0, 'b'],
      [3, 'c'],
    ])
  })
})

describe('cuts', () => {
  /** The definition, computed over the whole conversation. */
  function isCleanByDefinition(messages: readonly Message[], index: number): boolean {
    const before = new Set(
      messages
        .slice(0, index)
        .flatMap((message) => (message.role === 'assistant' ? message.parts : []))
        .flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])),
    )
    const behind = messages
      .slice(index)
      .flatMap((message) => (message.role === 'tool' ? message.parts : []))
    if (behind.some((part) => before.has(part.callId))) return false
    const [last, next] = [messages[index - 1], messages[index]]
    return !(
      last?.role === 'assistant' &&
      next?.role === 'assistant' &&
      last.parts.length > 0 &&
      last.parts.every((part) => part.type === 'reasoning' || part.type === 'opaque')
    )
  }

  it('are clean exactly where no call loses its result and no reasoning its reply', () => {
    const paired = fc.oneof(
      conversation(),
      messageList({ maxLength: 20 }).map((messages) => repairPairs(messages).messages),
    )
    fc.assert(
      fc.property(paired, (messages) => {
        const clean = Array.from({ length: messages.length + 1 }, (_, index) =>
          isCleanByDefinition(messages, index),
        )
        for (const [index, expected] of clean.entries()) {
          expect(isClean(messages, index)).toBe(expected)
          expect(alignBack(messages, index)).toBe(clean.lastIndexOf(true, index))
          expect(alignForward(messages, index)).toBe(clean.indexOf(true, index))
        }
      }),
      { numRuns: tries(300) },
    )
  })

  it('stay out of a step whose calls are answered in another order', () => {
    const messages = [reply(call('a'), call('b')), results(result('b')), results(result('a'))]
    expect(messages.map((_, index) => isClean(messages, index))).toEqual([true, false, false])
  })

  it('stay with the reply that sealed reasoning in a message of its own belongs to', () => {
    const messages = [
      user('go'),
      reply(sealed),
      reply(call('a')),
      results(result('a')),
      user('and'),
    ]
    expect(messages.map((_, index) => isClean(messages, index))).toEqual([
      true,
      true,
      false,
      false,
      true,
    ])
    expect([alignBack(messages, 3), alignForward(messages, 2)]).toEqual([1, 4])
  })

  it('read one step, not the conversation', () => {
    const messages = Array.from({ length: 3000 }, (_, n) => [
      user('go'),
      reply(call(`${n}`)),
      results(result(`${n}`)),
    ]).flat()
    let reads = 0
    const watched = new Proxy(messages, {
      get(target, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads++
        return Reflect.get(target, key)
      },
    })
    alignBack(watched, 4502)
    alignForward(watched, 4501)
    expect(reads).toBeLessThan(50)
  })
})
