import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { entryNumber } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import {
  expectKind,
  newOperation,
  StoreFixture,
  said,
} from '../../packages/core/src/store/contract-suite/bench.ts'
import type { StoreBench } from '../../packages/core/src/store/contract-suite/case.ts'
import { forkAt, linesOf } from '../../packages/core/src/store/contract-suite/forks/forks.ts'
import { postgresBench } from './benches/postgres.ts'
import { serverOfTests } from './benches/postgres-server.ts'
import { sqliteBench } from './benches/sqlite.ts'

/** Rows that look as after an erasure, made so by a hand that is not the store's. */
const DAMAGED = { code: 'damaged-row', retryable: false }
const all = { from: entryNumber(1), to: entryNumber(99) }

type Bench = Pick<StoreBench, 'store' | 'harm' | 'fresh'> & {
  /** Takes out of the audit what earlier versions did not record of an import. */
  readonly asEarlier: () => Promise<unknown>
}

async function talkedTwice(store: Store) {
  const [fixture, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
  for (const each of [fixture, other]) await each.exchange('hi', 'hello')
  return { fixture, other }
}

function prove(open: (skip: (why: string) => never) => Promise<Bench & AsyncDisposable>): void {
  it.for(['erasing', 'gone'] as const)(
    'a session that is %s by its row alone loses no text and is refused [I26]',
    async (state, { skip }) => {
      await using bench = await open(skip)
      const { store, harm } = bench
      const { fixture, other } = await talkedTwice(store)
      const { id: sessionId } = fixture
      await harm.changeState(sessionId, state)
      const asked = [
        () => store.findSession(sessionId),
        () => store.readEntries({ sessionId, ...all }),
        () => store.readEntries({ sessionId, ...all, kind: 'erasure' }),
        () => store.readContext({ sessionId }),
        () => store.listMail({ sessionId, limit: 9 }),
        () => store.look({ sessionId, known: null, limit: 9 }),
        () => linesOf(store.exportSession(sessionId)),
        () => fixture.tryAdmit(said('next')),
        () => store.eraseSome({ sessionId, limit: 500 }),
        () => store.deleteSession({ sessionId, reason: 'asked', operation: newOperation() }),
      ]
      for (const ask of asked) await expect(ask()).rejects.toMatchObject(DAMAGED)
      expect(await store.listSessions({ state, limit: 9 })).toEqual([])
      expect((await store.listSessions({ limit: 9 })).map(({ id }) => id)).toEqual([other.id])
      expect((await other.tryAdmit(said('next'))).kind).toBe('admitted')
      expect(await store.retireRunner({ runner: fixture.lease.runner })).toEqual({ kind: 'done' })
      // Also by the check of a store that is too large to be read before it is served.
      expect(await store.verify({ sessionId: null })).toMatchObject([{ sessionId }])
      await harm.changeState(sessionId, 'open')
      const entries = await store.readEntries({ sessionId, ...all })
      expect(entries.every(({ body }) => body !== null)).toBe(true)
    },
  )

  it('an entry that lost its text is refused, in every session that reads it [I26]', async ({
    skip,
  }) => {
    await using bench = await open(skip)
    const { store, harm } = bench
    const { fixture, other } = await talkedTwice(store)
    const fork = await forkAt(store, fixture.id, 3)
    await harm.empty(fixture.id, entryNumber(2))
    for (const { id: sessionId } of [fixture, fork]) {
      await expect(store.readEntries({ sessionId, ...all })).rejects.toMatchObject(DAMAGED)
      await expect(store.readContext({ sessionId })).rejects.toMatchObject(DAMAGED)
    }
    const near = { sessionId: fixture.id, text: 'hi', limit: 5, neighbours: 1 }
    await expect(store.search(near)).rejects.toMatchObject(DAMAGED)
    expect(await store.readEntries({ sessionId: other.id, ...all })).toHaveLength(3)
  })

  it('an import keeps text that was only damaged in this store [I41]', async ({ skip }) => {
    await using bench = await open(skip)
    const { store, harm } = bench
    const { fixture } = await talkedTwice(store)
    expectKind(await fixture.erase([entryNumber(1)]), 'erased')
    // A fork that was made of a copy comes to a store where its origin was damaged.
    const elsewhere = await bench.fresh()
    const origin = await linesOf(store.exportSession(fixture.id))
    expectKind(await elsewhere.importSession(origin), 'imported')
    const fork = await forkAt(elsewhere, fixture.id, 3)
    const lines = await linesOf(elsewhere.exportSession(fork.id))
    await harm.empty(fixture.id, entryNumber(2))
    const { sessionId } = expectKind(await store.importSession(lines), 'imported')
    const entries = await store.readEntries({ sessionId, from: entryNumber(1), to: entryNumber(3) })
    expect(entries.map(({ body }) => body !== null)).toEqual([false, true, true])
  })

  it('imports of an earlier version recorded neither, and are believed', async ({ skip }) => {
    await using bench = await open(skip)
    const { store, asEarlier } = bench
    const from = await bench.fresh()
    const { fixture, other } = await talkedTwice(from)
    expectKind(await fixture.erase([entryNumber(1)]), 'erased')
    const fork = await forkAt(from, fixture.id, 3)
    const end = { sessionId: other.id, reason: 'asked', operation: newOperation() }
    await from.deleteSession(end)
    for (let left = true; left; ) {
      ;({ left } = expectKind(await from.eraseSome({ ...end, limit: 500 }), 'erased'))
    }
    for (const { id } of [fork, other]) {
      expectKind(await store.importSession(await linesOf(from.exportSession(id))), 'imported')
    }
    await asEarlier()
    expect((await store.findSession(other.id))?.state).toBe('gone')
    expect(await store.readEntries({ sessionId: fork.id, ...all })).toHaveLength(4)
    const found = (await store.verify({})).filter(({ sessionId }) => sessionId !== null)
    expect(found).toEqual([])
  })
}

describe('unrecorded erasures on SQLite', () => {
  prove(async () => {
    const bench = await sqliteBench()
    const asEarlier = async () => {
      const database = new DatabaseSync(bench.path, { timeout: 20_000 })
      database.exec(`update audit set facts = json_remove(facts, '$.state', '$.erased')
        where kind = 'session created'`)
      database.close()
    }
    return { ...bench, asEarlier, [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose]() }
  })
})

describe('unrecorded erasures on PostgreSQL', () => {
  const serverOf = serverOfTests()

  prove(async (skip) => {
    const server = serverOf()
    if ('problem' in server) return skip(server.problem)
    const bench = await postgresBench(server.url)
    const asEarlier = () =>
      bench.sql(`update audit set line = regexp_replace(
        regexp_replace(line, ',"state":"[a-z]+"', ''), '"erased":\\[[0-9,]*\\],', '')`)
    return { ...bench, asEarlier, [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose]() }
  })
})
