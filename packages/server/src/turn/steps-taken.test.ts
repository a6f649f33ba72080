import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import type { Message } from '#core/message/message'
import type { StepRequest } from '#core/session/step'
import { StepCounts, stepsTaken } from './steps-taken.ts'

const said = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const notice: Message = { role: 'user', synthetic: true, parts: [{ type: 'text', text: 'ping' }] }
const answer: Message = { role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] }
const step: readonly Message[] = [
  { role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name: 'look', input: {} }] },
  { role: 'tool', parts: [{ type: 'tool-result', callId: 'c', output: [] }] },
]
const handoff = { role: 'handoff' } as unknown as Message

it.each<readonly [string, readonly Message[], number, boolean]>([
  ['nothing', [], 0, true],
  ['a question', [said('a')], 0, true],
  ['two steps', [said('a'), ...step, ...step], 2, true],
  ['a turn that ended before', [said('a'), ...step, answer, notice], 0, true],
  ['a notification in the turn', [said('a'), ...step, notice, ...step], 2, true],
  ['a word of a person in the turn', [said('a'), ...step, said('b'), ...step], 1, true],
  ['a compaction in the turn', [handoff, ...step], 1, false],
  ['a compaction before the turn', [handoff, said('a'), ...step], 1, true],
])('counts the steps after %s', (_what, context, steps, isWhole) => {
  expect(stepsTaken(context)).toEqual({ steps, isWhole })
})

it('remembers steps that a compaction removed from the context, for their turn only', () => {
  const counts = new StepCounts()
  const request = (turn: number, context: readonly Message[], id = 'a') =>
    ({ sessionId: sessionId(id), turn, context }) as unknown as StepRequest
  expect(counts.taken(request(1, [handoff, ...step]))).toBe(1)
  counts.note(request(1, []), 7)
  expect(counts.taken(request(1, [handoff, ...step]))).toBe(8)
  expect(counts.taken(request(1, [said('a'), ...step]))).toBe(1)
  expect(counts.taken(request(2, [handoff, ...step]))).toBe(1)
  expect(counts.taken(request(1, [handoff, ...step], 'b'))).toBe(1)
})
