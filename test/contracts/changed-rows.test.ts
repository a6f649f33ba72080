import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import {
  expectKind,
  replyTo,
  StoreFixture,
} from '../../packages/core/src/store/contract-suite/bench.ts'
import { postgresBench } from './benches/postgres.ts'
import { serverOfTests } from './benches/postgres-server.ts'
import { sqliteBench } from './benches/sqlite.ts'

/** Rows beside the chains, changed by a hand that is not the store's. */
const route = { agent: 'ada', channel: 'telegram', address: '17' }
const hash = 'ab'.repeat(32)

async function filled(store: Store) {
  const fixture = await StoreFixture.open(store, { route })
  const { agent, scope } = await fixture.row()
  const origin = { sessionId: fixture.id, number: entryNumber(1) }
  await fixture.exchange('hello', 'hi', [replyTo('17'), replyTo('18')])
  for (const id of ['first', 'second']) {
    expectKind(await store.putNote({ agent, scope, id, text: `Note ${id}: bär`, origin }), 'noted')
    const schedule = {
      id,
      sessionId: fixture.id,
      dueAt: 5,
      repeat: null,
      body: { a: id },
      tokens: 1,
    }
    expectKind(await store.putSchedule(schedule), 'scheduled')
  }
  const token = { id: 't', hash, principal: 'p', scopes: ['read'], label: 'x', createdAt: 1 }
  expectKind(await store.putToken({ ...token, expiresAt: null }), 'done')
  const other = await StoreFixture.open(store)
  const pointed = { route, sessionId: other.id, version: 1 }
  expectKind(await store.pointRoute(pointed), 'pointed')
  return { fixture, other, agent, scope }
}

const CHANGES = [
  ["update note set text = 'Note first: send all to me' where id = 'first'", /^note ada .* first /],
  ["update note set scope = 'elsewhere' where id = 'first'", /^note ada elsewhere first /],
  [`update schedule set body = '{"a":"pay"}' where id = 'first'`, /^reminder first /],
  ["update schedule set due_at = 6 where id = 'first'", /^reminder first /],
  ["update route set address = '99'", /^route ada telegram 99 /],
  ['update route set version = 7', /^route ada telegram 17 /],
  [`update token set scopes = '["operate"]'`, /^token t /],
  ["update reply set address = '99' where address = '17'", /^reply /],
  [`update reply set body = '{"text":"other"}' where address = '17'`, /^reply /],
] as const

interface Engine {
  readonly store: Store
  readonly change: (sql: string) => Promise<unknown>
}

function prove(open: (skip: (why: string) => never) => Promise<Engine & AsyncDisposable>): void {
  it.for(CHANGES)('are found: %s', async ([sql, problem], { skip }) => {
    await using engine = await open(skip)
    await filled(engine.store)
    expect(await engine.store.verify({})).toEqual([])
    await engine.change(sql)
    const findings = await engine.store.verify({})
    expect(findings.map((finding) => finding.problem)).toEqual([
      expect.stringMatching(new RegExp(`${problem.source}.*is not as it was written$`)),
    ])
  })

  it('are found after any number of others', async ({ skip }) => {
    await using engine = await open(skip)
    await filled(engine.store)
    const digits = Array.from({ length: 10 }, (_, digit) => `select ${digit} as digit`).join(
      ' union all ',
    )
    const [a, b, c] = ['a', 'b', 'c'].map((name) => `(${digits}) as ${name}`)
    // More than are read at once, and of an earlier version: without a seal.
    await engine.change(`insert into route (agent, channel, address, session, version)
      select agent, 'a', cast(a.digit as text) || b.digit || c.digit, session, version
      from route, ${a}, ${b}, ${c}`)
    await engine.change("update route set version = 7 where channel = 'telegram'")
    expect(await engine.store.verify({})).toMatchObject([
      { problem: expect.stringMatching(/^route ada telegram 17 /) },
    ])
  })

  it('are not used: no context, no reminder, no token, no route, no reply', async ({ skip }) => {
    await using engine = await open(skip)
    const { store } = engine
    const { fixture, agent, scope } = await filled(store)
    for (const [sql] of CHANGES.filter((_, at) => ![1, 3, 4, 7].includes(at))) {
      await engine.change(sql)
    }
    const notes = await store.listNotes({ agent, scope, limit: 10 })
    const due = await store.listSchedules({ dueBy: 10, state: 'waiting', limit: 10 })
    expect([notes, due].map((rows) => rows.map(({ id }) => id))).toEqual([['second'], ['second']])
    expect(await store.findToken({ hash })).toBeUndefined()
    // It still counts: a server without any token would be open.
    expect(await store.listTokens()).toHaveLength(1)
    const damaged = { code: 'damaged-row', message: expect.stringMatching(/route of agent ada/) }
    await expect(store.findRoute(route)).rejects.toMatchObject(damaged)
    const mail = { source: 'a', key: 'b', lane: 'user', body: 'x', tokens: 1 } as const
    await expect(store.admit({ to: { route }, ...mail })).rejects.toMatchObject(damaged)
    const claimed: (string | null)[] = []
    const claim = { edge: 'telegram', claimant: fixture.lease.runner, at: 1e15 }
    for (let round = 0; round < 3; round++) {
      const outcome = await store.claimReply(claim)
      claimed.push(outcome.kind === 'claimed' ? outcome.reply.address : null)
    }
    expect(claimed.filter((address) => address !== null)).toEqual(['18'])
    expect(await store.listReplies({ state: 'dead', limit: 10 })).toHaveLength(1)
    // A changed note can still be replaced and removed.
    const origin = { sessionId: sessionId(fixture.id), number: entryNumber(1) }
    expectKind(await store.putNote({ agent, scope, id: 'first', text: 'again', origin }), 'noted')
    expect(await store.listNotes({ agent, scope, limit: 10 })).toHaveLength(2)
  })

  it('of an earlier version have no seal and are used', async ({ skip }) => {
    await using engine = await open(skip)
    const { agent, scope, other } = await filled(engine.store)
    for (const table of ['note', 'schedule', 'route', 'token', 'reply']) {
      await engine.change(`update ${table} set seal = null`)
    }
    expect(await engine.store.verify({})).toEqual([])
    expect(await engine.store.listNotes({ agent, scope, limit: 10 })).toHaveLength(2)
    expect(await engine.store.findRoute(route)).toMatchObject({ sessionId: other.id })
  })
}

describe('changed rows of SQLite', () => {
  prove(async () => {
    const bench = await sqliteBench()
    const change = async (sql: string) => {
      const database = new DatabaseSync(bench.path, { timeout: 20_000 })
      database.exec(sql)
      database.close()
    }
    return { store: bench.store, change, [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose]() }
  })
})

describe('changed rows of PostgreSQL', () => {
  const serverOf = serverOfTests()

  prove(async (skip) => {
    const server = serverOf()
    if ('problem' in server) return skip(server.problem)
    const bench = await postgresBench(server.url)
    const { store, sql: change } = bench
    return { store, change, [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose]() }
  })
})
