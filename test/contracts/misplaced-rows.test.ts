import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { entryNumber, type SessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { StoreFixture } from '../../packages/core/src/store/contract-suite/bench.ts'
import { SESSION } from '../../packages/core/src/store/tables/tables.ts'
import { postgresBench } from './benches/postgres.ts'
import { serverOfTests } from './benches/postgres-server.ts'
import { sqliteBench } from './benches/sqlite.ts'

/** Rows that are whole, each with its own hash, but in the wrong place or from an earlier time. */
const DAMAGED = { code: 'damaged-row', retryable: false }

interface Engine extends AsyncDisposable {
  readonly store: Store
  /** Exchanges the entries with this number of two sessions. */
  readonly swap: (one: SessionId, other: SessionId, number: number) => Promise<unknown>
  readonly sql: (text: string) => Promise<unknown>
}

/** Entry 1 is a pin, entry 2 a message, and a compaction covers both; entry 5 is that. */
async function talked(store: Store, word: string): Promise<StoreFixture> {
  const fixture = await StoreFixture.open(store)
  await fixture.pin('rule', `rule of ${word}`, 5)
  await fixture.exchange(`${word} asks`, `${word} hears`)
  await fixture.compact(2)
  return fixture
}

function prove(open: (skip: (why: string) => never) => Promise<Engine>): void {
  it('an entry of another session is not read alone, as a hit, or by its kind [I21, I26]', async ({
    skip,
  }) => {
    await using engine = await open(skip)
    const { store, swap } = engine
    const [{ id: sessionId }, other] = [await talked(store, 'ada'), await talked(store, 'bob')]
    const two = entryNumber(2)
    const search = { text: 'asks', limit: 5, neighbours: 0, sessionId } as const
    expect((await store.search(search)).hits).toHaveLength(1)
    await swap(sessionId, other.id, 2)
    const read = store.readEntries({ sessionId, from: two, to: two })
    await expect(read).rejects.toMatchObject(DAMAGED)
    await expect(store.search(search)).rejects.toMatchObject(DAMAGED)
    await swap(sessionId, other.id, 2)
    await swap(sessionId, other.id, 5)
    const compactions = { sessionId, from: two, to: entryNumber(9), kind: 'compaction' } as const
    await expect(store.readEntries(compactions)).rejects.toMatchObject(DAMAGED)
  })

  it('an entry of another session reaches no context [I21, I26]', async ({ skip }) => {
    await using engine = await open(skip)
    const { store, swap } = engine
    const [one, other] = [await talked(store, 'ada'), await talked(store, 'bob')]
    for (const number of [1, 3]) {
      await swap(one.id, other.id, number)
      await expect(store.readContext({ sessionId: one.id })).rejects.toMatchObject(DAMAGED)
      await swap(one.id, other.id, number)
      expect((await store.readContext({ sessionId: one.id }))?.entries).toHaveLength(4)
    }
  })

  it('an older row of a session cuts no transcript short [I26]', async ({ skip }) => {
    await using engine = await open(skip)
    const { store, sql } = engine
    const [one, other] = [await talked(store, 'ada'), await talked(store, 'bob')]
    const { tail } = await one.row()
    const columns = SESSION.fields.map(({ column }) => column)
    const ofOne = `where id = '${one.id}'`
    await sql(`create table kept as select ${columns.join()} from session ${ofOne}`)
    await one.exchange('later', 'yes')
    const again = columns.map((column) => `${column} = (select ${column} from kept)`)
    await sql(`update session set ${again.join()} ${ofOne}`)
    await sql('drop table kept')
    expect((await one.row()).tail).toBe(tail)
    const read = ({ id: sessionId }: StoreFixture) =>
      store.readEntries({ sessionId, from: entryNumber(1), to: tail })
    await expect(read(one)).rejects.toMatchObject(DAMAGED)
    await expect(store.readContext({ sessionId: one.id })).rejects.toMatchObject(DAMAGED)
    expect(await read(other)).toHaveLength(tail)
  })

  it('a message of a session without a row is no duplicate [I4, I26]', async ({ skip }) => {
    await using engine = await open(skip)
    const { store, sql } = engine
    const fixture = await StoreFixture.open(store)
    const send = () => fixture.tryAdmit('hello', { key: 'k' })
    await send()
    expect((await send()).kind).toBe('duplicate')
    await sql(`delete from session where id = '${fixture.id}'`)
    await expect(send()).rejects.toMatchObject(DAMAGED)
  })
}

describe('misplaced rows on SQLite', () => {
  prove(async () => {
    const bench = await sqliteBench()
    const sql = async (text: string) => {
      const database = new DatabaseSync(bench.path, { timeout: 20_000 })
      database.exec(text)
      database.close()
    }
    const swap = async (one: SessionId, other: SessionId, number: number) => {
      await sql('drop trigger if exists entry_changes_by_erasure_only')
      const id = (session: string) =>
        `(select n << 31 from session where id = '${session}') | ${number}`
      for (const [to, from] of [
        ['1', id(one)],
        [id(one), id(other)],
        [id(other), '1'],
      ]) {
        await sql(`update entry set id = ${to} where id = ${from}`)
      }
    }
    return {
      store: bench.store,
      sql,
      swap,
      [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
    }
  })
})

describe('misplaced rows on PostgreSQL', () => {
  const serverOf = serverOfTests()

  prove(async (skip) => {
    const server = serverOf()
    if ('problem' in server) return skip(server.problem)
    const bench = await postgresBench(server.url)
    const swap = async (one: SessionId, other: SessionId, number: number) => {
      await bench.sql('alter table entry disable trigger entry_guard')
      for (const [to, from] of [
        ['spare', one],
        [one, other],
        [other, 'spare'],
      ]) {
        await bench.sql('update entry set session = $1 where session = $2 and number = $3', [
          to,
          from,
          number,
        ])
      }
      await bench.sql('alter table entry enable trigger entry_guard')
    }
    const { store, sql } = bench
    return { store, sql, swap, [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose]() }
  })
})
