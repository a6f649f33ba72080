import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { byHand, sqlitePlace } from '../../../../../../test/support/sqlite-place.ts'
import { operationId, runnerId, sessionId } from '../../../base/ids.ts'
import { LIMITS } from '../../contract-suite/bench.ts'
import { Writer } from './writer.ts'

const { newPath } = sqlitePlace()

const session = { id: sessionId('a'), agent: 'ada', limits: LIMITS, policy: 'steer' } as const
const createSession = {
  verb: 'createSession',
  request: { ...session, operation: operationId('o') },
} as const
const LATER = { busyMs: 100, anchorMs: 3_600_000 }

it('has nothing left to do after a commit that changed nothing', () => {
  const path = newPath()
  const writer = new Writer({ path, anchorPath: `${path}.anchor`, ...LATER })
  writer.commit([createSession])
  // The first anchor is written at once, the next one an hour later.
  while (writer.maintain());
  const look = { edge: 'chat', claimant: runnerId('r'), at: 0 }
  expect(writer.commit([{ verb: 'claimReply', request: look }])).toEqual([
    { outcome: { kind: 'none' } },
  ])
  expect(writer.maintain()).toBeNull()
  writer.close()
})

it('distinguishes commits of other processes from its own', () => {
  const path = newPath()
  const writer = new Writer({ path, anchorPath: `${path}.anchor`, ...LATER })
  const other = new DatabaseSync(path)
  writer.hasNews()
  writer.commit([createSession])
  expect(writer.hasNews()).toBe(false)
  other.exec("insert into runner values ('r', 'b', 1, 1, 1, 1, null)")
  expect([writer.hasNews(), writer.hasNews()]).toEqual([true, false])
  other.close()
  writer.close()
})

it('wakes runners of other processes, and none of its own', () => {
  const path = newPath()
  const [one, two] = [1, 2].map((nth) => {
    return new Writer({ path, anchorPath: `${path}.anchor${nth}`, ...LATER })
  }) as [Writer, Writer]
  const runner = runnerId('held')
  const file = join(`${path}.wake`, runner)
  mkdirSync(`${path}.wake`, { recursive: true })
  writeFileSync(file, '')
  const isCalled = (by: Writer, key: string) => {
    utimesSync(file, 0, 0)
    const mail = { to: { sessionId: session.id }, source: 's', key, lane: 'user' } as const
    by.commit([{ verb: 'admit', request: { ...mail, tokens: 1, body: null } }])
    return statSync(file).mtimeMs > 0
  }
  const registered = { id: runner, boot: 'b', process: 1, startedAt: 0, leaseMs: 1_000 }
  one.commit([
    createSession,
    { verb: 'registerRunner', request: registered },
    { verb: 'acquire', request: { sessionId: session.id, runner, holder: 'h', fence: 0 } },
  ])
  expect([isCalled(one, 'k1'), isCalled(two, 'k2')]).toEqual([false, true])
  for (const writer of [one, two]) writer.close()
})

describe('the WAL of a store', () => {
  const erased = () => {
    const path = newPath()
    const opened = (nth: number) =>
      new Writer({ path, anchorPath: `${path}.anchor${nth}`, ...LATER })
    const keeper = opened(1)
    keeper.commit([createSession])
    while (keeper.maintain());
    keeper.hasNews()
    const reader = new DatabaseSync(path, { readOnly: true })
    reader.exec('begin; select * from session')
    // Like a process that is killed, it ends without having emptied the WAL.
    const eraser = opened(2)
    const request = { sessionId: session.id, operation: operationId('p'), reason: 'asked for' }
    const [deleted] = eraser.commit([{ verb: 'deleteSession', request }])
    expect(deleted).toMatchObject({ outcome: { kind: 'done' } })
    eraser.close()
    reader.close()
    return { keeper, opened, size: () => statSync(`${path}-wal`).size }
  }

  it('is emptied by a process that notices an erasure by another one', () => {
    const { keeper, size } = erased()
    expect(size()).toBeGreaterThan(0)
    expect(keeper.hasNews()).toBe(true)
    while (keeper.maintain());
    expect(size()).toBe(0)
    keeper.close()
  })

  it('is emptied by a process that opens the store later', () => {
    const { keeper, opened, size } = erased()
    const later = opened(3)
    expect(later.hasNews()).toBe(true)
    while (later.maintain());
    expect(size()).toBe(0)
    for (const writer of [later, keeper]) writer.close()
  })
})

it('commits the other items of a batch in which one cannot be written', () => {
  const path = newPath()
  const writer = new Writer({ path, anchorPath: `${path}.anchor`, ...LATER })
  writer.commit([createSession])
  byHand(
    path,
    `create trigger refuse_one before insert on mail when new.tokens = 2
     begin select raise(abort, 'not this one'); end`,
  )
  const mail = { to: { sessionId: session.id }, source: 's', lane: 'user', body: null } as const
  const items = [1, 2, 3].map(
    (tokens) => ({ verb: 'admit', request: { ...mail, key: `k${tokens}`, tokens } }) as const,
  )
  const admitted = { outcome: { kind: 'admitted' } }
  expect(writer.commit(items)).toMatchObject([admitted, { error: expect.any(Error) }, admitted])
  writer.close()
})
