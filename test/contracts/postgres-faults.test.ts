import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import {
  create,
  LIMITS,
  newOperation,
  register,
  StoreFixture,
  said,
} from '../../packages/core/src/store/contract-suite/bench.ts'
import { openPostgres, type PostgresOptions } from '../../packages/core/src/store/postgres/open.ts'
import { connectAdmin, newSchema, startPostgres, type TestServer } from '../support/postgres.ts'
import { Wire } from '../support/providers/wire.ts'
import { until } from '../support/until.ts'
import { dropSchemas, type PostgresBench, postgresBench } from './benches/postgres.ts'

let server: TestServer | { readonly problem: string }
let admin: pg.Client

beforeAll(async () => {
  server = await startPostgres({ own: true, flags: ['-c', 'deadlock_timeout=50ms'] })
  if ('url' in server) admin = await connectAdmin(server.url)
})

afterAll(async () => {
  if ('problem' in server) return
  await admin.end()
  await dropSchemas(server.url)
  await server.stop()
})

function urlOf(context: TestContext): string {
  if ('problem' in server) context.skip(server.problem)
  return (server as TestServer).url
}

const limits = { ...LIMITS, laneMailMax: 100_000, sourceMailMax: 100_000 }

function send(store: Store, id: string, key: string) {
  const plain = { to: { sessionId: sessionId(id) }, source: 'chat', lane: 'user' } as const
  return store.admit({ ...plain, key, body: said(key), tokens: 1 })
}

describe('a server in trouble', () => {
  it('an answer lost after the commit was sent is reported as unknown, and its key finds the commit [fault 82]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const id = await create(bench.store, { limits })
    const { wire, url: farUrl } = await Wire.to(url)
    await using _wire = wire
    const far = await openPostgres(farUrl, { schema: bench.schema, connections: 1 })
    expect((await send(far, id, 'first')).kind).toBe('admitted')
    wire.cutsAfter = (sent) => sent.includes('commit\0')
    await expect(send(far, id, 'second')).rejects.toMatchObject({ code: 'outcome-unknown' })
    wire.cutsAfter = () => false
    const again = await send(far, id, 'second')
    expect(again).toMatchObject({ kind: 'duplicate', mail: 2 })
    expect((await bench.store.findSession(id))?.mail).toBe(2)
    await far.close()
  })

  it('a connection that breaks before the commit is sent costs nothing but time', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const id = await create(bench.store, { limits })
    const { wire, url: farUrl } = await Wire.to(url)
    await using _wire = wire
    const far = await openPostgres(farUrl, { schema: bench.schema, connections: 1 })
    let cuts = 0
    wire.cutsAfter = (sent) => sent.includes('begin isolation level read committed') && cuts++ < 2
    expect(await send(far, id, 'once')).toMatchObject({ kind: 'admitted', mail: 1 })
    expect(cuts).toBeGreaterThan(1)
    await far.close()
  })

  it('a pool without a free connection refuses by name, before anything is written [fault 83]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const one = await create(bench.store, { limits })
    const two = await create(bench.store, { limits })
    const narrow = await openAtLast(url, { schema: bench.schema, connections: 1, busyMs: 1_000 })
    // Until the other one was refused, however long that takes.
    const sleep = `while new.session = '${one}' and (select last_value from failures) < 2 loop
      perform pg_sleep(0.05); end loop`
    await using _slow = await mailTrigger(bench, sleep)
    const slow = send(narrow, one, 'a')
    await until(() => waitsFor('PgSleep'))
    await expect(send(narrow, two, 'b')).rejects.toMatchObject({
      code: 'store-busy',
      retryable: true,
      message: expect.stringContaining('all 1 connections are in use'),
    })
    await bench.sql("select setval('failures', 2)")
    expect((await slow).kind).toBe('admitted')
    expect(await send(narrow, two, 'b')).toMatchObject({ kind: 'admitted', mail: 1 })
    await narrow.close()
  })

  it('one hot session leaves the connections to the others', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url, { connections: 2 })
    const hot = await create(bench.store, { limits })
    const calm = await create(bench.store, { limits })
    await admin.query(`begin; select from ${bench.schema}.session where id = '${hot}' for update`)
    const waiting = Array.from({ length: 20 }, (_, index) => send(bench.store, hot, `k${index}`))
    expect((await send(bench.store, calm, 'k')).kind).toBe('admitted')
    await admin.query('rollback')
    const numbers = (await Promise.all(waiting)).map((outcome) => 'mail' in outcome && outcome.mail)
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
  })

  it('a deadlock is retried without an error [fault 84]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const { store, schema } = bench
    const runner = await register(store)
    for (const id of ['a', 'b', 'c']) {
      await StoreFixture.acquire(store, await create(store, { id: sessionId(id) }), runner)
    }
    const lock = (client: pg.Client, id: string) =>
      client.query(`select from ${schema}.session where id = '${id}' for update`)
    const other = await connectAdmin(url)
    context.onTestFinished(() => other.end())
    await admin.query('begin')
    await lock(admin, 'b')
    await other.query("begin; set local deadlock_timeout = '10s'")
    await lock(other, 'c')
    // It has `a` and waits for `b`. Who waits last looks for a circle, and looks once: so the circle
    // is closed by letting it go on to `c`, and the server ends its transaction.
    const retired = store.retireRunner({ runner })
    await until(() => waitsFor('Lock'))
    const turn = lock(other, 'a')
    await until(async () => {
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock'
        and application_name <> 'throughline'`
      return (await admin.query(waiting)).rows.length > 0
    })
    await admin.query('commit')
    await turn
    await other.query('commit')
    expect((await retired).kind).toBe('done')
    expect((await store.findSession(sessionId('c')))?.runner).toBeNull()
  })

  it('a serialisation failure is tried again, at the isolation that the locks need [fault 84]', async (context) => {
    const url = new URL(urlOf(context))
    url.searchParams.set('options', '-c default_transaction_isolation=serializable')
    await using bench = await postgresBench(url.href)
    const id = await create(bench.store, { limits })
    await using _failing = await mailTrigger(
      bench,
      `if current_setting('transaction_isolation') <> 'read committed' then
         raise exception 'read committed was not asked for';
       elsif nextval('failures') < 4 then
         raise exception 'try again' using errcode = '40001';
       end if`,
    )
    expect(await send(bench.store, id, 'k')).toMatchObject({ kind: 'admitted', mail: 1 })
  })

  it('what never stops failing is given up by name, and nothing is written [fault 84]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const id = await create(bench.store, { limits })
    const hasty = await openAtLast(url, { schema: bench.schema, busyMs: 1_000 })
    const raise = "raise exception 'never' using errcode = '40001'"
    await using _failing = await mailTrigger(bench, raise)
    await expect(send(hasty, id, 'k')).rejects.toMatchObject({ code: 'store-busy' })
    expect((await bench.store.findSession(id))?.mail).toBe(0)
    await hasty.close()
  })

  it('rows that two insert in the same moment are inserted once [I4, I5]', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    const other = await bench.sibling()
    const handles = [bench.store, other]
    for (let round = 0; round < 10; round++) {
      const ids = [`a${round}`, `b${round}`].map(sessionId)
      for (const id of ids) await create(bench.store, { id, limits })
      const sent = await Promise.all(
        handles.map((store, index) => send(store, ids[index] ?? '', `one ${round}`)),
      )
      expect(sent.map(({ kind }) => kind).toSorted()).toEqual(['admitted', 'duplicate'])
      const id = sessionId(`c${round}`)
      const plain = { id, agent: 'ada', limits, policy: 'steer' } as const
      const made = await Promise.all(
        handles.map((store) => store.createSession({ ...plain, operation: newOperation() })),
      )
      expect(made.map(({ kind }) => kind).toSorted()).toEqual(['created', 'exists'])
    }
  })

  it('a statement that takes too long is ended by the server and nothing is written', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const id = await create(bench.store, { limits })
    const slow = await mailTrigger(bench, 'perform pg_sleep(5)')
    const hasty = await openAtLast(url, { schema: bench.schema, statementMs: 1_000 })
    const codes: string[] = []
    // While the server stalls, the client gives up first, and does not know.
    while (codes.at(-1) !== 'store-busy' && codes.length < 10) {
      codes.push(
        await send(hasty, id, 'k').then(
          ({ kind }) => kind,
          ({ code }) => code,
        ),
      )
    }
    expect(codes).toEqual([...codes.slice(0, -1).fill('outcome-unknown'), 'store-busy'])
    await slow[Symbol.asyncDispose]()
    // With a timeout longer than a stall of the machine.
    expect(await send(bench.store, id, 'k')).toMatchObject({ kind: 'admitted', mail: 1 })
    await hasty.close()
  })

  it('a commit that takes too long has an unknown outcome; the key finds it [fault 88]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const id = await create(bench.store, { limits })
    // Runs inside the commit, where the server's own time-outs do not reach.
    // Until its client has given it up, however long that takes.
    const sleep =
      'while (select last_value from failures) < 2 loop perform pg_sleep(0.05); end loop'
    await using _slow = await mailTrigger(bench, sleep, 'at the commit')
    const hasty = await openAtLast(url, { schema: bench.schema, statementMs: 3_000 })
    await expect(send(hasty, id, 'k')).rejects.toMatchObject({ code: 'outcome-unknown' })
    await bench.sql("select setval('failures', 2)")
    await until(async () => (await bench.store.findSession(id))?.mail === 1)
    expect(await send(bench.store, id, 'k')).toMatchObject({ kind: 'duplicate', mail: 1 })
    await hasty.close()
  })

  it('a notification wakes a watcher long before its poll', async (context) => {
    await using bench = await postgresBench(urlOf(context), { pollMs: 60_000 })
    const id = await create(bench.store, { limits })
    const other = await bench.sibling()
    let heard = 0
    bench.store.watch(() => {
      heard += 1
    })
    await until(async () => (await listeners()).length > 0)
    await send(other, id, 'notified')
    await until(() => heard > 0)
  })

  it('a lost notification is made up for by the poll [fault 87]', async (context) => {
    await using bench = await postgresBench(urlOf(context), { pollMs: 200 })
    const id = await create(bench.store, { limits })
    const other = await bench.sibling()
    let heard = 0
    bench.store.watch(() => {
      heard += 1
    })
    await until(async () => (await listeners()).length > 0)
    for (const pid of await listeners()) await admin.query('select pg_terminate_backend($1)', [pid])
    const before = heard
    await send(other, id, 'lost')
    await until(() => heard > before)
    await until(async () => (await listeners()).length > 0) // And it listens again.
  })

  it('a standby that lacks the last commits takes over: noticed before the next acknowledgment [I26, fault 85]', async (context) => {
    const url = urlOf(context)
    const { own } = server as TestServer
    const schema = newSchema()
    const folder = mkdtempSync(join(tmpdir(), 'throughline-anchor-'))
    const anchorPath = join(folder, 'anchor')
    const open = () => openPostgres(url, { schema, busyMs: 20_000, anchorPath })
    const store = await open()
    const id = await create(store, { limits })
    await send(store, id, 'old')
    await own?.kill()
    await own?.keepCopy()
    await own?.start()
    expect((await send(store, id, 'newest')).kind).toBe('admitted')
    await own?.kill()
    await own?.putCopyBack()
    await own?.start()
    const lost = { code: 'store-damaged', message: expect.stringContaining('lacks the last ones') }
    await expect(send(store, id, 'next')).rejects.toMatchObject(lost)
    await expect(send(store, id, 'after')).rejects.toMatchObject(lost)
    expect((await store.findSession(id))?.mail).toBe(1)
    await store.close()
    rmSync(folder, { recursive: true })
    admin = await connectAdmin(url)
    await admin.query(`drop schema ${schema} cascade`)
  })

  it('killed and started again: callers wait, nothing acknowledged is lost [fault 81]', async (context) => {
    const url = urlOf(context)
    const { own } = server as TestServer
    const schema = newSchema()
    const store = await openPostgres(url, { schema, busyMs: 20_000 })
    const id = await create(store, { limits })
    const acknowledged: string[] = []
    let unknown = 0
    let stopped = false
    const sending = Array.from({ length: 4 }, async (_, sender) => {
      for (let index = 0; !stopped; index++) {
        const key = `${sender}-${index}`
        const outcome = await send(store, id, key).catch((error: { code?: string }) => error)
        if ('kind' in outcome) acknowledged.push(key)
        else if (outcome.code === 'outcome-unknown') unknown += 1
        else throw outcome
      }
    })
    await until(() => acknowledged.length > 20)
    await own?.kill()
    const atDeath = acknowledged.length
    await own?.start()
    await until(() => acknowledged.length > atDeath + 20)
    stopped = true
    await Promise.all(sending)
    const kept = new Set<string | null>()
    for (let after = 0; ; ) {
      const page = await store.listMail({ sessionId: id, after: after as never, limit: 1_000 })
      for (const { key, number } of page) {
        expect(number).toBe(kept.size + 1)
        kept.add(key)
      }
      if (page.length === 0) break
      after = page.at(-1)?.number ?? 0
    }
    expect(acknowledged.filter((key) => !kept.has(key))).toEqual([])
    expect(kept.size).toBeLessThanOrEqual(acknowledged.length + unknown)
    expect(await store.verify({})).toEqual([])
    await store.close()
    admin = await connectAdmin(url)
    await admin.query(`drop schema ${schema} cascade`)
  })
})

async function listeners(): Promise<readonly number[]> {
  const query = "select pid from pg_stat_activity where query like 'listen %'"
  return (await admin.query<{ pid: number }>(query)).rows.map(({ pid }) => pid)
}

/** For a store with little patience: a machine that stalls may refuse it a few times. */
async function openAtLast(url: string, options: PostgresOptions): Promise<Store> {
  for (let tries = 1; ; tries++) {
    try {
      return await openPostgres(url, options)
    } catch (error) {
      if (tries === 20) throw error
    }
  }
}

/** Does something for every new mail, until it is taken away. */
async function mailTrigger(
  { sql }: PostgresBench,
  body: string,
  when: 'at once' | 'at the commit' = 'at once',
): Promise<AsyncDisposable> {
  await sql('create sequence failures')
  await sql(`create function interfere() returns trigger language plpgsql as
    $$ begin ${body}; return new; end $$`)
  await sql(
    when === 'at once'
      ? 'create trigger t before insert on mail for each row execute function interfere()'
      : `create constraint trigger t after insert on mail deferrable initially deferred
         for each row execute function interfere()`,
  )
  return {
    [Symbol.asyncDispose]: async () => {
      await sql('drop function interfere cascade')
      await sql('drop sequence failures')
    },
  }
}

/** Whether a connection of a store waits, on the server, for such a thing. */
async function waitsFor(event: string): Promise<boolean> {
  const { rows } = await admin.query(
    `select from pg_stat_activity
     where $1 in (wait_event_type, wait_event) and application_name = 'throughline'`,
    [event],
  )
  return rows.length > 0
}

describe('a place that must not be written to', () => {
  it('a read-only endpoint is refused [fault 86]', async (context) => {
    const url = new URL(urlOf(context))
    url.searchParams.set('options', '-c default_transaction_read_only=on')
    await expect(openPostgres(url.href, { schema: newSchema() })).rejects.toMatchObject({
      code: 'store-refused',
      message: expect.stringContaining('endpoint for writing'),
    })
  })

  it('a newer schema is refused, and noticed by a program that is already running [fault 29]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    await bench.sql('update store set schema = schema + 1')
    await expect(openPostgres(url, { schema: bench.schema })).rejects.toMatchObject({
      code: 'store-refused',
      message: expect.stringContaining('newer program'),
    })
    await expect(create(bench.store)).rejects.toMatchObject({ code: 'store-damaged' })
    await bench.sql('update store set schema = schema - 1')
    await create(bench.store)
  })

  it('a newer schema is noticed by reading a row that no commit rewrites', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    const id = await create(bench.store, { limits })
    const place = async () => await bench.sql('select xmin, ctid from store')
    const before = await place()
    await send(bench.store, id, 'one')
    const { commits } = await bench.store.readStore()
    await send(bench.store, id, 'two')
    expect((await bench.store.readStore()).commits).toBeGreaterThan(commits)
    expect(await place()).toEqual(before)
  })

  it('tables of another program are left alone', async (context) => {
    const url = urlOf(context)
    const schema = newSchema()
    await admin.query(`create schema ${schema}; create table ${schema}.store (mine text)`)
    await expect(openPostgres(url, { schema })).rejects.toMatchObject({ code: 'store-refused' })
    await admin.query(`drop schema ${schema} cascade`)
  })

  it('two processes that make the schema at once make one', async (context) => {
    const url = urlOf(context)
    const schema = newSchema()
    const stores = await Promise.all([1, 2, 3].map(() => openPostgres(url, { schema })))
    const ids = await Promise.all(stores.map(async (store) => (await store.readStore()).id))
    expect(new Set(ids).size).toBe(1)
    await Promise.all(stores.map((store) => store.close()))
    await admin.query(`drop schema ${schema} cascade`)
  })

  it.each(['mysql://x/y', 'nonsense', 'postgres://h/d'])(
    '%s is refused or not found',
    async (url) => {
      const refused = openPostgres(url, { busyMs: 200 })
      await expect(refused).rejects.toMatchObject({ code: expect.stringMatching(/^store-/) })
    },
  )

  it('settings that the server refuses are reported with the remedy, and without the password', async (context) => {
    const right = urlOf(context)
    await admin.query(`create role poor login password 'a-secret'`)
    const changed = (change: (url: URL) => void): string => {
      const url = new URL(right)
      change(url)
      return url.href
    }
    const wrong: [string, RegExp][] = [
      [changed((url) => (url.password = 'a-secret')), /password is wrong: check both in `store`/],
      [changed((url) => Object.assign(url, { username: 'nemo' })), /user or the password is wrong/],
      [changed((url) => (url.pathname = '/nowhere')), /"nowhere" does not exist.*createdb/],
      [changed((url) => (url.search = 'sslmode=require')), /does not support SSL.*`sslmode`/],
      [changed((url) => Object.assign(url, POOR)), /permission denied for database.*grant create/],
    ]
    for (const [url, words] of wrong) {
      const error = await openPostgres(url, { schema: newSchema() }).catch((each: unknown) => each)
      expect(error).toMatchObject({ code: 'store-refused' })
      expect(String(error)).toMatch(words)
      expect(String(error)).not.toContain('a-secret')
    }
    await admin.query('drop role poor')
  })
})

const POOR = { username: 'poor', password: 'a-secret' }
