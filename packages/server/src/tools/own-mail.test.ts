import { expect, it } from 'vitest'
import type { AdmitOutcome } from '#core/store/commits'
import { admitControl, answerTo, callScopedId, noticeBody } from './own-mail.ts'
import { tasksTool } from './tasks.ts'

const CALL = { sessionId: 's1' as never, agent: 'ada', turn: 1, entry: 2, key: 'k' }

it.each<[object, string, string]>([
  [{ kind: 'admitted' }, 'ok', 'Done.'],
  [{ kind: 'duplicate' }, 'ok', 'Done.'],
  [{ kind: 'conflict' }, 'ok', 'Done.'],
  [{ kind: 'full', limit: 5 }, 'error', 'The mailbox takes nothing now (5 wait). Try again later.'],
  [{ kind: 'too-large', bytes: 9, limit: 5 }, 'error', 'That has 9 bytes; 5 are the limit.'],
  [{ kind: 'blob-missing' }, 'error', 'There is no such session.'],
  [{ kind: 'unknown' }, 'error', 'There is no such session.'],
  [{ kind: 'gone' }, 'error', 'That session was deleted.'],
])('a request to the own session with the outcome %j is answered', (kind, outcome, output) => {
  expect(answerTo(kind as AdmitOutcome, 'Done.')).toEqual({ outcome, output })
})

it('a request is control mail of its tool under the key of the call', async () => {
  const asked: unknown[] = []
  const admit = async (request: object) => {
    asked.push(request)
    return { kind: 'admitted' } as never
  }
  const mail = { control: 'pin', body: { name: 'a' }, tokens: 7 }
  await admitControl({ admit }, CALL, mail)
  const control = { to: { sessionId: 's1' }, source: 'tool:ada', key: 'k', lane: 'control' }
  expect(asked).toEqual([{ ...control, ...mail }])
  const statuses = ['pending', 'in_progress', 'completed', 'cancelled', 'completed']
  const tasks = statuses.map((status) => ({ content: 'x', status }))
  const tool = tasksTool({ store: { admit }, countTokens: (_, text) => text.length })
  const call = { ...CALL, input: { tasks } } as never
  expect(await tool.run(call, new AbortController().signal)).toEqual({
    ...{ outcome: 'ok', output: 'Kept: 2 open, 3 finished.' },
  })
  const tokens = JSON.stringify({ tasks }).length
  expect(asked[1]).toEqual({ ...control, control: 'tasks', body: { tasks }, tokens })
  expect([tool.name, tool.isRepeatable]).toEqual(['tasks', true])
})

it('an id is the same for every repetition of a call, and another for every other', () => {
  expect(callScopedId('note', CALL)).toBe('note-8254c329a92850f6')
  expect(callScopedId('note', { key: 'l' })).not.toBe(callScopedId('note', CALL))
})

it('a notification is a message of a program, with more beside it', () => {
  const message = { role: 'user', parts: [{ type: 'text', text: 'x' }] }
  expect([noticeBody('x'), noticeBody('x', { from: 'a' })]).toEqual([
    { message },
    { message, from: 'a' },
  ])
})
