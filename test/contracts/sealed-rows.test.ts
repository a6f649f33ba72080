import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { entryNumber } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import {
  expectKind,
  replyTo,
  StoreFixture,
  said,
} from '../../packages/core/src/store/contract-suite/bench.ts'
import { openPostgres } from '../../packages/core/src/store/postgres/open.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { isSealed } from '../../packages/core/src/store/tables/seal.ts'
import type { Kind, Table } from '../../packages/core/src/store/tables/table.ts'
import * as tables from '../../packages/core/src/store/tables/tables.ts'
import { POSTGRES_TO_19, SQLITE_TO_19 } from '../support/earlier-schemas.ts'
import { postgresBench } from './benches/postgres.ts'
import { serverOfTests } from './benches/postgres-server.ts'
import { sqliteBench } from './benches/sqlite.ts'

const route = { agent: 'ada', channel: 'telegram', address: '17' }
const WAITING = { source: 'waiter', key: 'waits' } as const
const bytes = new Uint8Array([1, 2, 3])

/** One session with a row in every table, and one beside it. */
async function filled(store: Store) {
  const fixture = await StoreFixture.open(store, { route })
  const other = await StoreFixture.open(store)
  const { agent, scope } = await fixture.row()
  const origin = { sessionId: fixture.id, number: entryNumber(1) }
  const file = { sessionId: fixture.id, mediaType: 'image/png', bytes }
  const blob = expectKind(await store.stageBlob(file), 'staged').hash
  await fixture.exchange('hello', 'hi', [replyTo('17')])
  await fixture.exchange('how are you', 'well')
  const operation = await fixture.claim(2)
  await fixture.commit(operation)
  await fixture.hear('look')
  await store.setTitle({ sessionId: fixture.id, title: 'Greetings' })
  expectKind(await store.putNote({ agent, scope, id: 'n', text: 'Note', origin }), 'noted')
  const schedule = { id: 'r', sessionId: fixture.id, dueAt: 5, repeat: null, tokens: 1 }
  expectKind(await store.putSchedule({ ...schedule, body: { a: 1 } }), 'scheduled')
  const token = { id: 't', hash: 'ab'.repeat(32), principal: 'p', scopes: ['read'], label: 'x' }
  expectKind(await store.putToken({ ...token, createdAt: 1, expiresAt: null }), 'done')
  const mail = await fixture.admit(said('waits'), { ...WAITING, blobs: [blob] })
  return { fixture, other, operation, blob, mail }
}
type Filled = Awaited<ReturnType<typeof filled>>

const SEALED = Object.values(tables).filter(
  (each): each is typeof tables.SESSION =>
    typeof each === 'object' && 'flatten' in each && isSealed(each as Table<unknown>),
)

/** Tables without a seal. */
const UNSEALED: Readonly<Record<string, string>> = {
  entry: 'in the chain of its session',
  audit: 'in the chain of the store',
  attempt: 'costs and outcomes of calls, which decide nothing that is said',
  usage: 'sums of calls',
  draft: 'ids of messages that a chat shows while a turn runs',
  embedded: 'made again from the entries',
  entry_vector: 'made again from the entries',
}

/** Columns that no seal covers. */
const UNCOVERED: Readonly<Record<string, string>> = {
  'blob.bytes': 'their hash is the name of the blob',
  'runner.beat': 'each renewal changes it, and a wrong one only moves a takeover',
  'reply.state': 'each attempt to send changes it',
  'reply.attempt': 'each attempt to send changes it',
  'reply.claimant': 'each attempt to send changes it',
  'reply.due_at': 'each attempt to send changes it',
  'reply.receipt': 'each attempt to send changes it',
}

/** A value that the column may have and has not, where one cannot be made from the kind. */
const VALUES: Readonly<Record<string, string>> = {
  'session.state': `'gone'`,
  'session.turn_state': `'idle'`,
  'session.base': 'base - 1',
  'session.seen': 'seen - 1',
  'session.open_calls': `'["c"]'`,
  'session.delivered': `replace(delivered, '3', '2')`,
  'session.settled': `replace(settled, '2', '1')`,
  'session.pending': `replace(pending, '1', '2')`,
  'session.limits': `replace(limits, '1000', '9000')`,
  'session.pins': `'{"a":{"entry":1,"tokens":1}}'`,
  'session.owed': `'[1]'`,
  'mail.lane': `'notification'`,
  'mail.state': `'withdrawn'`,
  'mail.blobs': `'[]'`,
  'mail.body': `replace(body, 'waits', 'baits')`,
  'operation.result': `'{}'`,
  'operation.state': `'failed'`,
  'reply.body': `replace(body, 'to', 'for')`,
  'schedule.body': `'{"a":2}'`,
  'schedule.state': `'ended'`,
  'token.scopes': `'["operate"]'`,
}

function otherValue(table: string, { column, kind }: Field): string {
  const given = VALUES[`${table}.${column}`]
  if (given !== undefined) return given
  if (kind === 'text') return `coalesce(${column}, '') || 'x'`
  if (kind === 'integer' || kind === 'number') return `coalesce(${column}, 0) + 1`
  throw new Error(`say which other value ${table}.${column} may have`)
}

interface Field {
  readonly column: string
  readonly kind: Kind
}
type Row = Readonly<Record<string, unknown>>

interface Engine extends AsyncDisposable {
  readonly store: Store
  readonly sql: (text: string) => Promise<readonly Row[]>
  /** Sets the column of the row to another value. */
  readonly set: (table: string, field: Field, of: Filled) => string
  /** The store, opened after its tables are those of the program before these seals. */
  readonly fromEarlier: () => Promise<Store>
  readonly overriding: string
}

const FIRST = 'n = (select min(n) from session)'

/** The row that is changed, if its table has several. */
function rowOf(table: string, { fixture, mail }: Filled): string {
  if (table === 'session') return FIRST
  if (table === 'mail') return `key = '${WAITING.key}'`
  if (table === 'intake') return `number = ${mail}`
  return table === 'runner' ? `id = '${fixture.lease.runner}'` : '1 = 1'
}

/** Columns by which a row is found: with another value it is missing, which other rows tell. */
const KEYS = ['session.id', 'operation.id', 'blob.hash', 'sender.source', 'intake.key_hash']
const isKey = (table: string, { column, kind }: Field) =>
  KEYS.includes(`${table}.${column}`) ||
  kind === 'number' ||
  (kind === 'session' && table !== 'intake')

/** A read of the row or a commit that needs it, where a changed row is refused. */
const USES: Readonly<Record<string, (store: Store, of: Filled) => Promise<unknown>>> = {
  session: (store, { fixture }) => store.findSession(fixture.id),
  mail: (store, { fixture }) => store.listMail({ sessionId: fixture.id, limit: 9 }),
  operation: (store, { operation }) => store.findOperation(operation),
  blob: (store, { fixture, blob }) => store.findBlob({ sessionId: fixture.id, hash: blob }),
  sender: (_, { fixture }) => fixture.tryAdmit(said('more'), { source: WAITING.source }),
  intake: (_, { fixture, blob }) => fixture.tryAdmit(said('waits'), { ...WAITING, blobs: [blob] }),
}
const DAMAGED = { code: 'damaged-row', retryable: false }

function prove(open: (skip: (why: string) => never) => Promise<Engine>): void {
  it.for(SEALED.map((table) => [table.name, table] as const))(
    'finds another value in each column of %s, and serves none of them [I26]',
    { timeout: 120_000 },
    async ([name, { fields }], { skip }) => {
      await using engine = await open(skip)
      const { store, sql } = engine
      const of = await filled(store)
      expect(await store.verify({})).toEqual([])
      await sql('drop table if exists kept')
      await sql(`create table kept as select * from ${name}`)
      const silent: string[] = []
      for (const field of fields) {
        const column = `${name}.${field.column}`
        if (column in UNCOVERED) continue
        await sql(`update ${name} set ${engine.set(name, field, of)} where ${rowOf(name, of)}`)
        if ((await store.verify({})).length === 0) silent.push(`verify: ${column}`)
        const use = isKey(name, field) ? undefined : USES[name]
        const used = await use?.(store, of).then(
          () => `served: ${column}`,
          (error: unknown) => expect(error).toMatchObject(DAMAGED),
        )
        if (typeof used === 'string') silent.push(used)
        await sql(`delete from ${name}`)
        const columns = Object.keys((await sql('select * from kept limit 1'))[0] ?? {}).join(', ')
        await sql(
          `insert into ${name} (${columns}) ${engine.overriding} select ${columns} from kept`,
        )
      }
      expect(silent).toEqual([])
      expect(await store.verify({})).toEqual([])
      await sql('drop table kept')
    },
  )

  it('a changed session takes nothing and gives nothing, and the others go on [I21, I26]', async ({
    skip,
  }) => {
    await using engine = await open(skip)
    const { store, sql } = engine
    const { fixture, other, mail } = await filled(store)
    await sql(`update session set policy = 'queue' where ${FIRST}`)
    const { id: sessionId } = fixture
    const whole = { sessionId, from: entryNumber(1), to: entryNumber(9) }
    const asked: (() => Promise<unknown>)[] = [
      () => store.findSession(sessionId),
      () => store.look({ sessionId, known: null, limit: 9 }),
      () => store.readEntries(whole),
      () => store.readContext({ sessionId }),
      () => store.listMail({ sessionId, limit: 9 }),
      () => store.exportSession(sessionId)[Symbol.asyncIterator]().next(),
      () => fixture.tryAdmit(said('more')),
      () => fixture.deliver(mail),
      () => store.setTitle({ sessionId, title: 'Other' }),
    ]
    for (const ask of asked) await expect(ask()).rejects.toMatchObject(DAMAGED)
    expect((await store.listSessions({ limit: 9 })).map(({ id }) => id)).toEqual([other.id])
    await other.exchange('hello', 'hi')
    expect(await store.verify({})).toEqual([
      { sessionId, entry: null, problem: 'session row is not as it was written' },
    ])
  })

  it('an erased message has a seal without its texts, and a damaged one stays damaged', async ({
    skip,
  }) => {
    await using engine = await open(skip)
    const { store, sql } = engine
    const { fixture } = await filled(store)
    const seals = async () => (await sql('select seal from mail order by at, key')).map(hex)
    const before = await seals()
    await sql(`update mail set tokens = 11 where body like '%how are you%'`)
    const entries = [entryNumber(1), entryNumber(4)]
    expectKind(await fixture.erase(entries, 'what is left'), 'erased')
    const erased = await sql('select seal, tokens from mail where body is null and source is null')
    expect(erased).toHaveLength(2)
    for (const row of erased) {
      expect(row['seal']).not.toBeNull()
      expect(before).not.toContain(hex(row))
    }
    expect((await store.verify({})).map(({ problem }) => problem)).toEqual([
      'mail 2 is not as it was written',
    ])
    await sql('update mail set tokens = 11 where body is null')
    expect(await store.verify({})).toHaveLength(2)
  })

  it('a file in use whose count says otherwise is not dropped [I26]', async ({ skip }) => {
    await using engine = await open(skip)
    const { store, sql } = engine
    const { fixture, blob } = await filled(store)
    await sql('update blob set uses = 0, at = 0')
    const file = { sessionId: fixture.id, mediaType: 'a/b', bytes: new Uint8Array([9]) }
    expectKind(await store.stageBlob(file), 'staged')
    expect(await store.dropStaged({ before: 1e15 })).toEqual({ kind: 'dropped', count: 1 })
    expect(await sql('select uses from blob')).toHaveLength(1)
    expect((await store.verify({})).map(({ problem }) => problem)).toEqual([
      `the row of blob ${blob} is not as it was written`,
    ])
  })

  it('a changed runner keeps its sessions, and its next beat does not hide the change', async ({
    skip,
  }) => {
    await using engine = await open(skip)
    const { store, sql } = engine
    const { fixture, other } = await filled(store)
    const { runner } = fixture.lease
    await sql(`update runner set lease_ms = 1 where id = '${runner}'`)
    for (const each of [runner, other.lease.runner]) {
      expectKind(await store.renew({ runner: each }), 'renewed')
    }
    await fixture.reply('still here', { ends: 'answered' })
    expect((await store.verify({})).map(({ problem }) => problem)).toEqual([
      `runner ${runner} is not as it was written`,
    ])
  })

  it('any text is as it was written when it is read again', async ({ skip }) => {
    await using engine = await open(skip)
    const { store } = engine
    const { fixture, mail } = await filled(store)
    const { id: sessionId } = fixture
    const odd = 'a\0b\u0001c\u0001,\\x"\'$1\u2028\ud800é😀'
    await store.setTitle({ sessionId, title: odd })
    await fixture.admit(said(odd), { source: odd, key: odd })
    await fixture.pin('__proto__', odd, 1)
    const file = { sessionId, mediaType: odd, bytes: new Uint8Array([7]) }
    expectKind(await store.stageBlob(file), 'staged')
    expect(await store.verify({})).toEqual([])
    const listed = await store.listMail({ sessionId, limit: 9 })
    expect(listed.map(({ number }) => number)).toContain(mail)
    expect(expectKind(await fixture.tryAdmit(said(odd), { source: odd }), 'admitted').mail).toBe(6)
  })

  it('rows of an earlier version are believed until they are written again', async ({ skip }) => {
    await using engine = await open(skip)
    const { fixture, other, mail, blob } = await filled(engine.store)
    const store = await engine.fromEarlier()
    try {
      expect(await store.verify({})).toEqual([])
      expect(await store.findBlob({ sessionId: fixture.id, hash: blob })).toMatchObject({ bytes })
      expect(await store.listMail({ sessionId: fixture.id, limit: 9 })).toHaveLength(4)
      await engine.sql("update session set policy = 'queue'")
      expect((await store.findSession(other.id))?.policy).toBe('queue')
      await store.withdraw({ sessionId: fixture.id, mail })
      const sealed = async (table: string) =>
        (await engine.sql(`select seal from ${table} where seal is not null`)).length
      expect([await sealed('session'), await sealed('mail')]).toEqual([1, 1])
      await engine.sql("update session set policy = 'steer'")
      await expect(store.findSession(fixture.id)).rejects.toMatchObject(DAMAGED)
      expect((await store.findSession(other.id))?.policy).toBe('steer')
    } finally {
      await store.close()
    }
  })
}

const hex = ({ seal }: Row) => Buffer.from(seal as Uint8Array).toString('hex')

it('each table has a seal, or a reason for none', () => {
  const named = Object.values(tables).flatMap((each) =>
    typeof each === 'object' && 'flatten' in each ? [each] : [],
  )
  const unsealed = named.filter((each) => !isSealed(each as Table<unknown>))
  expect(unsealed.map(({ name }) => name).sort()).toEqual(Object.keys(UNSEALED).sort())
  const columns = SEALED.flatMap(({ name, fields }) =>
    fields.map(({ column }) => `${name}.${column}`),
  )
  for (const column of Object.keys(UNCOVERED)) expect(columns).toContain(column)
})

describe('rows of SQLite', () => {
  prove(async () => {
    const bench = await sqliteBench()
    const sql = async (text: string) => {
      const database = new DatabaseSync(bench.path, { timeout: 20_000 })
      try {
        if (text.startsWith('select')) return database.prepare(text).all()
        database.exec(text)
        return []
      } finally {
        database.close()
      }
    }
    const isPacked = (table: string) => table === 'mail' || table === 'reply'
    return {
      store: bench.store,
      sql,
      set: (table, field) => {
        const { column, kind } = field
        if (isPacked(table) && kind === 'session') return 'id = id + (1 << 31)'
        if (isPacked(table) && kind === 'number') return 'id = id + 1'
        if (kind === 'session') return `${column} = 2`
        if (kind === 'flag') return `${column} = 1 - ${column}`
        if (kind.startsWith('hash')) return `${column} = zeroblob(32)`
        return `${column} = ${otherValue(table, field)}`
      },
      overriding: '',
      fromEarlier: async () => {
        await bench.store.close()
        await sql(SQLITE_TO_19)
        return openSqliteStore({ path: bench.path })
      },
      [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
    }
  })
})

describe('rows of PostgreSQL', () => {
  const serverOf = serverOfTests()

  prove(async (skip) => {
    const server = serverOf()
    if ('problem' in server) return skip(server.problem)
    const { url } = server
    const bench = await postgresBench(url)
    return {
      store: bench.store,
      sql: (text) => bench.sql(text),
      set: (table, field, { other }) => {
        const { column, kind } = field
        if (kind === 'session') return `${column} = '${other.id}'`
        if (kind === 'flag') return `${column} = not ${column}`
        if (kind.startsWith('hash')) return `${column} = decode(repeat('00', 32), 'hex')`
        return `${column} = ${otherValue(table, field)}`
      },
      overriding: 'overriding system value',
      fromEarlier: async () => {
        await bench.sql(POSTGRES_TO_19)
        return openPostgres(url, { schema: bench.schema, connections: 1 })
      },
      [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
    }
  })
})
