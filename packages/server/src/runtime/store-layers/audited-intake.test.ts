import { expect, it } from 'vitest'
import type { Store } from '#core/store/contract'
import { auditedIntake } from './audited-intake.ts'

const born = (id: string, reason: string) => ({
  ...{ kind: 'session created', sessionId: id, operationId: 'o1', entry: 0, reason },
})
const mailbox = { from: 3, to: 3 }
const admitted = (reason: string) => ({
  kind: 'message admitted',
  sessionId: 's1',
  mailbox,
  reason,
})
const created = { kind: 'created', session: { id: 's1' } }
const duplicate = { kind: 'duplicate', sessionId: 's1', mail: 3 }

it.each<[keyof Store, object, object, readonly object[]]>([
  ['createSession', { operation: 'o1' }, created, [born('s1', 'created')]],
  ['createSession', { operation: 'o1' }, { kind: 'exists' }, []],
  [
    'startAfresh',
    { operation: 'o1' },
    { kind: 'started', sessionId: 's1' },
    [born('s1', 'afresh')],
  ],
  ['startAfresh', { operation: 'o1' }, duplicate, []],
  ['fork', { operation: 'o1' }, { ...created, kind: 'forked' }, [born('s1', 'forked')]],
  ['fork', { operation: 'o1' }, duplicate, []],
  ['admit', { lane: 'user' }, { kind: 'admitted', sessionId: 's1', mail: 3 }, [admitted('user')]],
  ['admit', { lane: 'user' }, duplicate, []],
  ['fireSchedule', {}, { kind: 'fired', sessionId: 's1', mail: 3 }, [admitted('notification')]],
  ['fireSchedule', {}, { kind: 'full' }, []],
  [
    'withdraw',
    { sessionId: 's1', mail: 3 },
    { kind: 'withdrawn' },
    [{ kind: 'message withdrawn', sessionId: 's1', mailbox, reason: 'withdrawn' }],
  ],
  ['withdraw', { sessionId: 's1', mail: 3 }, { kind: 'not-pending' }, []],
])('%s of %j with the outcome %j writes its line', async (verb, request, outcome, lines) => {
  const asked: unknown[] = []
  const run = async (given: unknown) => {
    asked.push(given)
    return outcome
  }
  const written: unknown[] = []
  const other = async () => 'as before'
  const log = { write: (line: unknown) => void written.push(line) }
  const store = { [verb]: run, findSession: other } as unknown as Store
  const audited = auditedIntake(store, log as never)
  const method = audited[verb] as (request: object) => Promise<unknown>
  expect(await method(request)).toBe(outcome)
  expect([asked, written]).toEqual([[request], lines])
  expect(audited.findSession).toBe(other)
})
