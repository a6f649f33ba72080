import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, type TestContext, vi } from 'vitest'
import { loadSession } from '../../bench/recall/load.ts'
import { openAgent } from '../../packages/core/src/agent/agent.ts'
import { openaiChat } from '../../packages/core/src/agent/typed-formats/openai.ts'
import { entryNumber, mailNumber, sessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import {
  create,
  newOperation,
  register,
  replyTo,
  StoreFixture,
  said,
} from '../../packages/core/src/store/contract-suite/bench.ts'
import {
  Connections,
  LoanedClient,
  type Query,
} from '../../packages/core/src/store/postgres/connections/connections.ts'
import { LOOKUPS } from '../../packages/core/src/store/postgres/lookups.ts'
import { openPostgres } from '../../packages/core/src/store/postgres/open.ts'
import { readPostgres } from '../../packages/core/src/store/postgres/read.ts'
import { POSTGRES_SCHEMA } from '../../packages/core/src/store/postgres/schema.ts'
import { Snapshot } from '../../packages/core/src/store/postgres/snapshot.ts'
import { BLOCK_ENTRIES } from '../../packages/core/src/store/search/blocks.ts'
import { POSTGRES_TO_8, POSTGRES_TO_15, POSTGRES_TO_18 } from '../support/earlier-schemas.ts'
import { startPostgres, type TestServer } from '../support/postgres.ts'
import { Wire } from '../support/providers/wire.ts'
import { until } from '../support/until.ts'
import { dropSchemas, type PostgresBench, postgresBench } from './benches/postgres.ts'

let server: TestServer | { readonly problem: string }

beforeAll(async () => {
  server = await startPostgres({ flags: ['-c', 'fsync=off', '-c', 'shared_buffers=32MB'] })
})

afterAll(async () => {
  if ('problem' in server) return
  await dropSchemas(server.url)
  await server.stop()
})

function urlOf(context: TestContext): string {
  if ('problem' in server) context.skip(server.problem)
  return (server as TestServer).url
}

/** Nothing asked and nothing new, look after look: after a stall of the machine one look is none. */
async function atRest(wire: Wire): Promise<void> {
  for (let last = -1, looks = 0; looks < 20; looks++) {
    if (wire.isAsking || last !== wire.roundTrips) looks = 0
    last = wire.roundTrips
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

function open(): { readonly promise: Promise<void>; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, release: resolve }
}

/** A fixture on a far store whose commit is held up on the way, between its reading and its writing. */
async function heldDesk(bench: PostgresBench, url: string, statementMs = 10_000) {
  const { wire, url: farUrl } = await Wire.to(url)
  const far = await openPostgres(farUrl, { schema: bench.schema, statementMs, connections: 1 })
  const fixture = await StoreFixture.open(bench.store)
  const gate = open()
  let held = false
  wire.holds = (sent) => {
    if (!sent.includes('commit\0')) return undefined
    held = true
    return gate.promise
  }
  const writing = far.setTasks({ ...fixture.fenced(), body: ['late'], tokens: 1 })
  const outcome = writing.catch((error: { code: string }) => ({ kind: error.code }))
  await until(() => held)
  const end = async () => {
    await far.close()
    await wire[Symbol.asyncDispose]()
  }
  return { fixture, far, gate, outcome, end }
}

async function takeOver(store: Store, fixture: StoreFixture) {
  const { runner } = fixture.lease
  const beat = (await store.listRunners()).find(({ id }) => id === runner)?.beat ?? 0
  await store.dismissRunner({ runner, beat })
  return StoreFixture.acquire(store, fixture.id, await register(store))
}

it('waits for its commits to be durable, even if the server is configured not to', async (context) => {
  const url = new URL(urlOf(context))
  url.searchParams.set('options', '-c synchronous_commit=off')
  const options = { driver: pg, url: url.href, schema: 'public', connections: 1, busyMs: 10_000 }
  const connections = new Connections({ ...options, statementMs: 10_000 })
  try {
    const rows = await connections.query({ text: 'show synchronous_commit' })
    expect(rows).toEqual([{ synchronous_commit: 'on' }])
  } finally {
    await connections.close()
  }
})

it('serves an agent of the library', async (context) => {
  await using bench = await postgresBench(urlOf(context))
  await using agent = await openAgent({
    ...{ store: bench.store, name: 'mine', format: openaiChat, contextWindow: 32_000 },
    step: ({ request }) => {
      const said = String(request.messages.at(-1)?.content)
      if (said === 'break') throw new Error('no key')
      return { role: 'assistant' as const, content: `You said: ${said}` }
    },
  })
  const session = agent.session('ana')
  const asked = await session.ask('Hello.', { key: 'k' })
  expect(asked).toMatchObject({ kind: 'answered', text: 'You said: Hello.' })
  expect(await session.ask('Hello.', { key: 'k' })).toMatchObject({ isDuplicate: true, turn: 1 })
  expect(await session.ask('break')).toMatchObject({ kind: 'failed', reason: 'no key' })
  expect(await session.history()).toHaveLength(4)
})

it('uses no schema in which another role could have code run', async (context) => {
  const url = urlOf(context)
  const name = (what: string) => `${what}_${randomUUID().slice(0, 8)}`
  const [me, other, foreign, open] = [name('me'), name('other'), name('foreign'), name('open')]
  const admin = new pg.Client(url)
  await admin.connect()
  try {
    await admin.query(`create role ${me} login password 'x'; create role ${other};
      create schema ${foreign} authorization ${other}; grant all on schema ${foreign} to ${me};
      create schema ${open} authorization ${me}; grant create on schema ${open} to public`)
    const mine = new URL(url)
    await admin.query(`grant create on database ${mine.pathname.slice(1)} to ${me}`)
    Object.assign(mine, { username: me, password: 'x' })
    await expect(openPostgres(mine.href, { schema: foreign })).rejects.toThrow(`role ${other}`)
    await expect(openPostgres(mine.href, { schema: open })).rejects.toThrow('every role may create')
    await admin.query(`revoke create on schema ${open} from public;
      grant create, usage on schema ${open} to ${other}`)
    // The server's own user of these tests is a superuser, which counts as a member of every role.
    for (const user of [mine.href, url]) {
      await expect(openPostgres(user, { schema: open })).rejects.toThrow(
        `the role ${other} may create objects`,
      )
    }
    // A role of which this one is a member is trusted; so is one that may only use the schema.
    await admin.query(`grant ${other} to ${me}`)
    await (await openPostgres(mine.href, { schema: open })).close()
    await admin.query(`revoke ${other} from ${me}; revoke create on schema ${open} from ${other}`)
    await (await openPostgres(mine.href, { schema: open })).close()
    // A role without any right to a store that is there.
    const closed = name('closed')
    await (await openPostgres(url, { schema: closed })).close()
    await expect(readPostgres(mine.href, { schema: closed })).rejects.toThrow('grant')
    await admin.query(`drop schema ${closed} cascade`)
  } finally {
    await admin.query(`drop owned by ${me}, ${other} cascade; drop role ${me}, ${other}`)
    await admin.end()
  }
})

it('erases text of many different words with statements that are each short', async (context) => {
  await using bench = await postgresBench(urlOf(context))
  const { store } = bench
  const fixture = await StoreFixture.open(store)
  for (let index = 0; index < 3; index++) {
    const words = Array.from({ length: 2_000 }, (_, at) => `x${index}y${at}`)
    await fixture.deliver(await fixture.admit(said(words.join(' ')), { tokens: 1 }))
  }
  const upto = async () => (await bench.sql('select sum(upto) as n from indexed'))[0]?.['n']
  await until(async () => Number(await upto()) === 3)
  const { id } = fixture
  await store.deleteSession({ sessionId: id, operation: newOperation(), reason: 'asked' })
  const send = vi.spyOn(LoanedClient.prototype, 'send')
  try {
    expect(await store.eraseSome({ sessionId: id, limit: 500 })).toMatchObject({ kind: 'erased' })
    const lookups = send.mock.calls
      .flatMap(([queries]) => queries)
      .filter(({ text }) => text.includes('as wished(key)'))
      .map(({ values = [] }) => (values[1] as readonly unknown[]).length)
    expect(lookups.reduce((sum, roots) => sum + roots, 0)).toBeGreaterThanOrEqual(6_000)
    expect(Math.max(...lookups)).toBeLessThanOrEqual(1_000)
  } finally {
    send.mockRestore()
  }
  expect(await bench.sql('select from word_page')).toEqual([])
})

it('commits to a long session without reading its entries again', async (context) => {
  await using bench = await postgresBench(urlOf(context))
  const fixture = await StoreFixture.open(bench.store)
  for (let index = 0; index < 100; index++) await fixture.exchange('and', 'so on')
  const send = vi.spyOn(LoanedClient.prototype, 'send')
  try {
    await fixture.exchange('one more', 'answer')
    const queries = send.mock.calls.flatMap(([all]) => all)
    const lookup = queries.find(({ text }) => text.includes('session.seen'))
    // As the server plans for a store of any size.
    await bench.sql('set enable_seqscan = off')
    await bench.sql('set enable_bitmapscan = off')
    const plan = await bench.sql(`explain (analyze, format json) ${lookup?.text}`, [[fixture.id]])
    const removed = [...JSON.stringify(plan).matchAll(/Rows Removed by [\w ]+":([\d.]+)/g)]
    expect(removed.length).toBeGreaterThan(0)
    expect(Math.max(...removed.map(([, rows]) => Number(rows)))).toBeLessThanOrEqual(3)
  } finally {
    await bench.sql('reset all')
    send.mockRestore()
  }
})

it('plans a statement once, whatever the server knows of its tables', async (context) => {
  await using bench = await postgresBench(urlOf(context))
  const fixture = await StoreFixture.open(bench.store)
  const exchange = () => fixture.exchange('and', 'so on')
  await exchange()
  await bench.sql('analyze')
  const send = vi.spyOn(LoanedClient.prototype, 'send')
  try {
    for (let index = 0; index < 3; index++) await exchange()
    const loans = [...send.mock.contexts] as LoanedClient[]
    const text = `select coalesce(sum(custom_plans), 0)::int as custom,
      coalesce(sum(generic_plans), 0)::int as generic from pg_prepared_statements`
    const counts = await Promise.all(loans.map((loan) => loan.send([{ text }])))
    const sums = counts.map((rows) => rows[0]?.[0] ?? {})
    expect(sums.map(({ custom }) => custom)).toEqual(sums.map(() => 0))
    expect(Math.max(...sums.map(({ generic }) => Number(generic)))).toBeGreaterThan(10)
  } finally {
    send.mockRestore()
  }
})

it('erases many messages at once', async (context) => {
  await using bench = await postgresBench(urlOf(context))
  const fixture = await StoreFixture.open(bench.store)
  for (let index = 0; index < 30; index++) {
    await fixture.deliver(await fixture.admit(said(`word${index}`), { tokens: 1 }))
  }
  const entries = Array.from({ length: 30 }, (_, index) => entryNumber(index + 1))
  expect(await fixture.erase(entries)).toMatchObject({ kind: 'erased', entries })
})

describe('a store of an earlier schema', () => {
  it('has each session and each note in a scope of its own', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const [one, two] = [await StoreFixture.open(bench.store), await StoreFixture.open(bench.store)]
    const origin = { sessionId: one.id, number: entryNumber(1) }
    const note = { agent: 'ada', id: 'drink', text: 'tea' }
    await bench.store.putNote({ ...note, scope: one.id, origin })
    await bench.store.putNote({ ...note, id: 'loose', scope: '', origin: null })
    await one.exchange('hi', 'hello')
    const operation = await one.claim(1)
    await bench.sql(POSTGRES_TO_8)
    await bench.sql(`drop table word_page, passage_block; create table entry_words (words tsvector);
      alter table indexed drop column state;
      alter table session drop column scope, drop column title_salt;
      update operation set cause = 'manual', reason = 'requested by mail 12';
      alter table operation drop column requested_by;
      alter table note drop constraint note_pkey, drop column scope, add primary key (agent, id);
      update store set schema = 4`)
    const store = await openPostgres(url, { schema: bench.schema, connections: 1 })
    const seen = async (scope?: string) => {
      const query = { agent: 'ada', limit: 9, ...(scope !== undefined && { scope }) }
      return (await store.listNotes(query)).map(({ id }) => id)
    }
    expect([await seen(one.id), await seen(two.id)]).toEqual([['drink'], []])
    expect(await seen()).toEqual(['drink', 'loose'])
    expect((await store.findSession(two.id))?.scope).toBe(two.id)
    expect(await store.findOperation(operation)).toMatchObject({ requestedBy: 12 })
    await store.close()
  })

  it.for([
    ['by roots of today', `${POSTGRES_TO_15} drop table embedded, entry_vector;`, 13],
    ['in bytes of today', `${POSTGRES_TO_18} update indexed set state = '{"upto":1}';`, 17],
  ] as const)('has its words indexed again, %s', async ([, reverted, schema], context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const fixture = await StoreFixture.open(bench.store)
    await fixture.hear('an orchid from before')
    const isIndexed = async () => (await bench.sql('select from word_page')).length === 1
    await until(isIndexed)
    await bench.sql(`${reverted} update word_page set lists = '\\xff'`)
    await bench.sql(`update store set schema = ${schema}`)
    const store = await openPostgres(url, { schema: bench.schema, connections: 1 })
    const query = { sessionId: fixture.id, text: 'orchids', limit: 5, neighbours: 0 }
    expect((await store.search(query)).total).toBe(1)
    await until(isIndexed)
    expect((await store.search(query)).total).toBe(1)
    await store.close()
  })
})

describe('tables that are not those of the schema', () => {
  it('are named when the store is opened, and nothing changes [I26]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    await StoreFixture.open(bench.store)
    const { schema } = bench
    const named = (text: string) => ({
      code: 'store-damaged',
      message: expect.stringContaining(text),
    })
    await bench.sql('alter table note rename to memo')
    await expect(openPostgres(url, { schema })).rejects.toMatchObject(named('its table note is'))
    const notes = { agent: 'ada', scope: '', limit: 1 }
    await expect(bench.store.listNotes(notes)).rejects.toMatchObject(named('"note" does not exist'))
    await bench.sql('alter table memo rename to note; update store set schema = 3')
    const back = named('its schema number is 3, but its tables do not match that schema')
    await expect(openPostgres(url, { schema })).rejects.toMatchObject(back)
    await bench.sql(`update store set schema = ${POSTGRES_SCHEMA}`)
    const again = await openPostgres(url, { schema })
    expect(await again.verify({})).toEqual([])
    await again.close()
  }, 60_000)
})

describe('verify', () => {
  it('finds a title, scope or age that was changed by hand, and exports no such session [I19]', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    const { id } = await StoreFixture.open(bench.store)
    await bench.store.setTitle({ sessionId: id, title: 'Orchids' })
    expect(await bench.store.verify({})).toEqual([])
    await bench.sql(`update session set title = 'Roses'`)
    const problem = 'session row has another title than the audit'
    expect(await bench.store.verify({})).toEqual([{ sessionId: id, entry: null, problem }])
    const lines = bench.store.exportSession(id)[Symbol.asyncIterator]()
    await expect(lines.next()).rejects.toMatchObject({ code: 'damaged-row' })
    await bench.sql(`update session set title = 'Orchids', scope = 'theirs', created_at = 1`)
    expect((await bench.store.verify({})).map((finding) => finding.problem)).toEqual([
      'session row names another scope than the one it was created in',
      'session row has another creation time than the audit',
    ])
  })
})

describe('locks', () => {
  it('no take-over slips between the look at the fence and the write [I7, I8]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const { fixture, gate, outcome, end } = await heldDesk(bench, url)
    let taken = false
    const next = takeOver(bench.store, fixture).then((made) => {
      taken = true
      return made
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(taken).toBe(false)
    gate.release()
    expect((await outcome).kind).toBe('appended')
    expect((await next).tail.number).toBe(1)
    await end()
  })

  it('a holder that stops in the middle of a commit is ended by the server, and its session is free [I8]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const { fixture, gate, outcome, end } = await heldDesk(bench, url, 1_500)
    const next = await takeOver(bench.store, fixture)
    expect(next.tail.number).toBe(0)
    gate.release()
    expect((await outcome).kind).toBe('outcome-unknown')
    expect((await next.row()).tail).toBe(0)
    await end()
  })

  it('a holder that stops in the middle of a commit holds up no other session [I21]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const { gate, outcome, end } = await heldDesk(bench, url)
    const other = await StoreFixture.open(bench.store)
    await other.exchange('still', 'here')
    expect((await bench.store.readAudit({ after: 0, limit: 100 })).length).toBeGreaterThan(4)
    gate.release()
    expect((await outcome).kind).toBe('appended')
    await end()
  })

  it('a runner that renews while it is being dismissed is not dismissed [I25]', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    const other = await bench.sibling()
    for (let round = 0; round < 20; round++) {
      const runner = await register(bench.store)
      const beat = (await other.listRunners()).find(({ id }) => id === runner)?.beat ?? 0
      const [dismissed, renewed] = await Promise.all([
        other.dismissRunner({ runner, beat }),
        bench.store.renew({ runner }),
      ])
      expect([`${dismissed.kind} ${renewed.kind}`]).toEqual([
        dismissed.kind === 'done' ? 'done lost' : 'alive renewed',
      ])
    }
  })

  it('a blob is not dropped while a message begins to use it', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    const other = await bench.sibling()
    const fixture = await StoreFixture.open(bench.store)
    for (let round = 0; round < 20; round++) {
      const bytes = new Uint8Array([round])
      const staged = await bench.store.stageBlob({ sessionId: fixture.id, mediaType: 'a/b', bytes })
      const hash = 'hash' in staged ? staged.hash : ''
      const [admitted, dropped] = await Promise.all([
        fixture.tryAdmit(said(`${round}`), { blobs: [hash], source: `s${round}` }),
        other.dropStaged({ before: Number.MAX_SAFE_INTEGER }),
      ])
      const kept = await bench.store.findBlob({ sessionId: fixture.id, hash })
      const expected = admitted.kind === 'admitted' ? [1, 0] : [undefined, 1]
      expect([kept?.uses, dropped.count]).toEqual(expected)
    }
  })
})

describe('a runner whose process dies', () => {
  it('is listed as absent once its connection is closed, and not before', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const { wire, url: farUrl } = await Wire.to(url)
    const far = await openPostgres(farUrl, { schema: bench.schema, connections: 1 })
    const stops = [far.watch(() => {}), bench.store.watch(() => {})]
    const runner = await register(far)
    const absent = async () =>
      (await bench.store.listRunners()).filter((row) => row.isAbsent).map(({ id }) => id)
    await register(bench.store)
    // Both hold a lock: the connection that looks is there, and has something to see.
    await until(async () => {
      const [row] = await bench.sql(
        "select count(*) as n from pg_locks where locktype = 'advisory' and objsubid = 2",
      )
      return Number(row?.['n']) === 2
    })
    expect(await absent()).toEqual([])
    await wire[Symbol.asyncDispose]()
    await until(async () => (await absent()).includes(runner))
    for (const stop of stops) stop()
    await far.close().catch(() => {})
  })
})

describe('a runner that retires in a running process', () => {
  it('leaves no lock on the connection of its process', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    const stop = bench.store.watch(() => {})
    const locks = async () => {
      const text = "select count(*) as n from pg_locks where locktype = 'advisory' and objsubid = 2"
      return Number((await bench.sql(text))[0]?.['n'])
    }
    const first = await register(bench.store)
    await register(bench.store)
    await until(async () => (await locks()) === 2)
    await bench.store.retireRunner({ runner: first })
    await until(async () => (await locks()) === 1)
    stop()
  })
})

describe('round trips', () => {
  it('are two for every verb of a session in a turn', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const { wire, url: farUrl } = await Wire.to(url)
    await using _wire = wire
    const store = await openPostgres(farUrl, { schema: bench.schema, connections: 1 })
    const trips: Record<string, number> = {}
    const counted = new Proxy(store, {
      get: (target, verb: keyof Store) => async (request: never) => {
        await atRest(wire) // What follows behind a commit is done.
        const before = wire.roundTrips
        const answer = await (target[verb] as (request: never) => Promise<unknown>)(request)
        trips[verb] ??= wire.roundTrips - before
        return answer
      },
    })
    const route = { agent: 'ada', channel: 'c', address: 'a' }
    const fixture = await StoreFixture.open(counted, { route })
    const mail = { source: 's', key: 'k', lane: 'user', body: said('hi'), tokens: 1 } as const
    await counted.admit({ to: { route }, ...mail })
    await fixture.deliver(mailNumber(1))
    await fixture.reply('calls', { calls: ['c'] })
    await fixture.results('c')
    await fixture.reply('done', { ends: 'answered', replies: [replyTo('a')] })
    await fixture.compact(1)
    await fixture.claim(3)
    const failing = (await fixture.row()).operation ?? newOperation()
    const { fence, runner } = fixture.lease
    await counted.failCompaction({ operation: failing, fence, state: 'failed', reason: 'x' })
    await fixture.pin('p', 'x', 1)
    await counted.renew({ runner })
    await counted.claimReply({ edge: 'telegram', claimant: runner, at: 0 })
    const sent = { kind: 'sent', receipt: '' } as const
    await counted.settleReply({
      sessionId: fixture.id,
      number: 1,
      attempt: 1,
      claimant: runner,
      result: sent,
    })
    await counted.release({ lease: fixture.lease, reason: 'idle' })
    await store.close()
    const { findSession: _read, ...verbs } = trips
    console.log(`round trips: ${JSON.stringify(trips)}`)
    // A pin is judged beside the settings in effect, which only the session's row names.
    expect(Object.entries(verbs).filter(([, count]) => count !== 2)).toEqual([['pin', 3]])
    expect(Object.keys(verbs).length).toBeGreaterThanOrEqual(14)
  })
})

describe('search before the appends are indexed', () => {
  async function indexed(bench: PostgresBench, id: string): Promise<void> {
    await until(async () => {
      const [row] = await bench.sql(
        'select tail = coalesce(upto, 0) as done from session left join indexed on session = id where id = $1',
        [id],
      )
      return row?.['done'] === true
    })
  }
  const numbers = async (bench: PostgresBench, id: string, text: string) => {
    const query = { sessionId: sessionId(id), text, limit: 10, neighbours: 0 }
    return (await bench.store.search(query)).hits.map(({ entry }) => entry.number)
  }

  it('finds the same with the index as without it', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    const fixture = await StoreFixture.open(bench.store)
    await fixture.hear('red', 'red green', 'blue', 'red', 'データベースの設計', "it's")
    const ask = async () =>
      Promise.all(
        ['red green', 'BLUE', '設計', "it's", 'nothing', "'; drop table entry; --"].map((text) =>
          numbers(bench, fixture.id, text),
        ),
      )
    const fresh = await ask()
    await indexed(bench, fixture.id)
    expect((await bench.sql('select from word_page')).length).toBeGreaterThan(0)
    expect(await ask()).toEqual(fresh)
    expect(fresh[0]).toEqual([2, 4, 1])
  })

  it('takes a text of any size, also one whose words are as many as its characters', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    const fixture = await StoreFixture.open(bench.store)
    const han = Array.from({ length: 200_000 }, (_, index) =>
      String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)),
    )
    await fixture.deliver(await fixture.admit(said(han.join('')), { tokens: 1 }))
    await fixture.deliver(await fixture.admit(said('after it'), { tokens: 1 }))
    await indexed(bench, fixture.id)
    expect(await numbers(bench, fixture.id, 'after')).toEqual([2])
    expect(await numbers(bench, fixture.id, `${han[0]}${han[1]}`)).toEqual([1])
  })

  it('erased words leave the index of a session of any length', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    // One in each block.
    const secrets = new Map([
      [3, 'cobalt'],
      [BLOCK_ENTRIES + 3, 'zirconium'],
      [2 * BLOCK_ENTRIES + 3, 'basalt'],
    ])
    const entries = Array.from({ length: 2 * BLOCK_ENTRIES + 10 }, (_, at) => {
      const text = secrets.get(at + 1) ?? 'plain'
      const body = { role: 'assistant', parts: [{ type: 'text', text }] }
      return { kind: 'assistant', calls: [], row: null, at, tokens: 1, body } as const
    })
    const id = await loadSession(bench.store, 'long', entries)
    await indexed(bench, id)
    const words = [...secrets.values()]
    const kept = async () => {
      const pages = (word: string) =>
        bench.sql(`select from word_page where position('${word}'::bytea in lists) > 0`)
      const found = await Promise.all(words.map(pages))
      return words.filter((_, at) => found[at]?.length !== 0)
    }
    expect(await kept()).toEqual(words)
    const fixture = await StoreFixture.acquire(bench.store, id, await register(bench.store))
    await fixture.erase([...secrets.keys()].map(entryNumber))
    expect(await kept()).toEqual([])
  })

  it('erased words leave the index, also while it is being made', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    const fixture = await StoreFixture.open(bench.store)
    for (let round = 0; round < 5; round++) {
      const [entry] = await fixture.hear(`secret${round}`)
      await fixture.reply('noted', { ends: 'answered' })
      await new Promise((resolve) => setTimeout(resolve, 30 * round))
      if (entry !== undefined) await fixture.erase([entry])
    }
    await indexed(bench, fixture.id)
    const secret = "select from word_page where position('secret'::bytea in lists) > 0"
    expect(await bench.sql(secret)).toEqual([])
    expect(await numbers(bench, fixture.id, 'secret0 secret4')).toEqual([])
  })
})

it('text that PostgreSQL cannot hold comes back as it was [fault 35]', async (context) => {
  await using bench = await postgresBench(urlOf(context))
  const id = await create(bench.store)
  const odd = 'a\0b\u0001c\u0001,\u0001.\\x"\'$1'
  const mail = { to: { sessionId: id }, source: odd, key: odd, lane: 'user', tokens: 1 } as const
  await bench.store.admit({ ...mail, body: { [odd]: odd } })
  const again = await bench.store.admit({ ...mail, body: { [odd]: odd } })
  expect(again.kind).toBe('duplicate')
  const [item] = await bench.store.listMail({ sessionId: id, limit: 1 })
  expect([item?.source, item?.key, item?.body]).toEqual([odd, odd, JSON.stringify({ [odd]: odd })])
})

describe('a row that is harmed', () => {
  it.for([
    ["pending = '('", 'pending'],
    ["delivered = '{}'", 'delivered'],
    ['tail = 1::bigint << 60', 'tail'],
  ] as const)(
    'of a session, %s: it is refused by name, and all others go on [I21, I26, fault 69]',
    async ([harm, column], context) => {
      await using bench = await postgresBench(urlOf(context))
      const { store } = bench
      const [fixture, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
      await fixture.admit(said('before'))
      await bench.sql(`update session set ${harm} where id = '${fixture.id}'`)
      await expect(fixture.tryAdmit(said('hi'))).rejects.toMatchObject({
        code: 'damaged-row',
        message: expect.stringMatching(new RegExp(`session ${fixture.id} .* column ${column} `)),
      })
      expect((await other.tryAdmit(said('ho'))).kind).toBe('admitted')
      expect((await store.verify({}))[0]).toMatchObject({
        sessionId: fixture.id,
        problem: expect.stringContaining(`its column ${column} `),
      })
      for (const { runner } of [fixture.lease, other.lease]) {
        expect(await store.retireRunner({ runner })).toEqual({ kind: 'done' })
      }
      const ready = await store.readReady({ agents: ['ada'], at: 0, limit: 9 })
      expect(ready.map(({ id }) => id)).toEqual([other.id])
      const listed = await store.listSessions({ limit: 1 })
      expect(listed.map(({ id }) => id)).toEqual([other.id])
    },
  )

  it('tails far beyond the existing rows are found, and verify reads only existing rows [I19]', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    const { store } = bench
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('hi', 'hello')
    const { commits } = await store.readStore()
    await bench.sql('update session set tail = 2147483647')
    await bench.sql('delete from audit where cursor = $1', [commits])
    expect((await store.verify({})).map(({ problem }) => problem)).toEqual([
      'entry 4 to 2147483647 are missing at the end',
      'session row is not as it was written',
      `audit row ${commits} is missing at the end`,
    ])
  })
  it('the other rows of a missing session row are found, even if the audit does not mention it', async (context) => {
    await using bench = await postgresBench(urlOf(context))
    const fixture = await StoreFixture.open(bench.store)
    await fixture.exchange('hi', 'hello')
    await bench.sql('delete from session')
    const strays = 'rows of a session that is not there: entry, intake, mail'
    const problems = async () => (await bench.store.verify({})).map(({ problem }) => problem)
    expect(await problems()).toEqual(['session row is missing, but the audit mentions it', strays])
    await bench.sql('delete from audit; update chain set commits = 0')
    expect((await problems()).at(-1)).toBe(strays)
  })

  it('is not reported for a row with changes that are not linked to the audit yet [I19]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const name = "'chain_audit(integer)'::regprocedure"
    const [was] = await bench.sql(`select pg_get_functiondef(${name}) as text`)
    const idle = 'create or replace function chain_audit(most integer) returns boolean'
    await bench.sql(`${idle} language sql as 'select false'`)
    await (await StoreFixture.open(bench.store)).admit(said('not linked'))
    const only = await readPostgres(url, { schema: bench.schema })
    expect(await only.verify({})).toEqual([])
    await only.close()
    await bench.sql(String(was?.['text']))
  })
})

it('the rows that a rule misses are asked for in one statement of each kind, and no others', async () => {
  const sent: Query[] = []
  const loan = {
    send: async (queries: readonly Query[]) => {
      sent.push(...queries)
      return queries.map(() => [])
    },
  } as unknown as LoanedClient
  const snapshot = new Snapshot({ runner: 'runner', route: 'route' })
  for (const id of ['one', 'two', 'one']) snapshot.session(sessionId(id))
  snapshot.intake('ab')
  // Its parameters are single values.
  for (const at of [5, 6]) snapshot.stagedBefore(at)
  await snapshot.load(loan, snapshot.takeMissed())
  const { session, intake, stagedBefore } = LOOKUPS
  expect(sent).toEqual(
    expect.arrayContaining([
      { text: session.text, values: [['one', 'two']] },
      { text: intake.text, values: [['\\xab']] },
      { text: stagedBefore.text, values: [5] },
      { text: stagedBefore.text, values: [6] },
    ]),
  )
  expect(sent).toHaveLength(4)
  expect([snapshot.session(sessionId('two')), snapshot.stagedBefore(5)]).toEqual([undefined, []])
  expect(snapshot.takeMissed()).toEqual([])
})
