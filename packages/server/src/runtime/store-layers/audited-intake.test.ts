import { expect, it } from 'vitest'
import type { NewAuditLine } from '#core/audit/log/line'
import { entryNumber, mailNumber, sessionId } from '#core/base/ids'
import {
  expectKind,
  LIMITS,
  newOperation,
  StoreFixture,
  said,
} from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { auditedIntake } from './audited-intake.ts'

const A = sessionId('a')
const made = { limits: LIMITS, policy: 'steer' } as const
const message = { to: { sessionId: A }, source: 'chat', lane: 'user', tokens: 1 } as const

/** A store with the session `a`, and the lines that were written since. */
async function open() {
  const lines: NewAuditLine[] = []
  const store = auditedIntake(openMemoryStore(), { write: (line) => void lines.push(line) })
  const operation = newOperation()
  const fixture = await StoreFixture.open(store, { id: A, operation })
  expect(lines.splice(0)).toEqual([born('a', operation, 'created')])
  return { store, fixture, take: () => lines.splice(0) }
}

const born = (id: string, operationId: string, reason: string) => ({
  ...{ kind: 'session created', sessionId: id, operationId, entry: 0, reason },
})
const ofMail = (kind: string, mail: number, reason: string) => ({
  ...{ kind, sessionId: 'a', mailbox: { from: mail, to: mail }, reason },
})

it('writes a line for each session that is made, once', async () => {
  const { store, fixture, take } = await open()
  await fixture.exchange('Hello.', 'Good day.')
  take()
  const operation = newOperation()
  const again = { ...made, id: A, agent: 'ada', operation }
  expectKind(await store.createSession(again), 'exists')
  const route = { agent: 'ada', channel: 'chat', address: '1' }
  const afresh = { ...made, id: sessionId('b'), operation, source: 'chat', key: 'k', route }
  expectKind(await store.startAfresh({ ...afresh, version: 0 }), 'started')
  expect(take()).toEqual([born('b', operation, 'afresh')])
  expectKind(await store.startAfresh({ ...afresh, version: 0 }), 'duplicate')
  const fork = { id: sessionId('c'), from: A, at: entryNumber(1), source: 'chat', key: 'f' }
  expectKind(await store.fork({ ...fork, operation }), 'forked')
  expect(take()).toEqual([born('c', operation, 'forked')])
  expectKind(await store.fork({ ...fork, operation }), 'duplicate')
  expect(take()).toEqual([])
})

it('writes a line for each message that comes or is taken back, once', async () => {
  const { store, take } = await open()
  const { mail } = expectKind(
    await store.admit({ ...message, key: 'k', body: said('Hello.') }),
    'admitted',
  )
  expect(take()).toEqual([ofMail('message admitted', mail, 'user')])
  expectKind(await store.admit({ ...message, key: 'k', body: said('Hello.') }), 'duplicate')
  const due = { id: 'r', dueAt: 5, repeat: null, body: said('Now.'), tokens: 1 }
  await store.putSchedule({ ...due, sessionId: A })
  const fired = expectKind(
    await store.fireSchedule({ id: 'r', dueAt: 5, nextDueAt: null }),
    'fired',
  )
  expect(take()).toEqual([ofMail('message admitted', fired.mail, 'notification')])
  expectKind(await store.fireSchedule({ id: 'r', dueAt: 5, nextDueAt: null }), 'not-due')
  expectKind(await store.withdraw({ sessionId: A, mail }), 'withdrawn')
  expect(take()).toEqual([ofMail('message withdrawn', mail, 'withdrawn')])
  expectKind(await store.withdraw({ sessionId: A, mail: mailNumber(99) }), 'unknown')
  expect(take()).toEqual([])
  expect((await store.findSession(A))?.agent).toBe('ada')
})
