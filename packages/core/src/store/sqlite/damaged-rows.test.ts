import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { describe, expect, it, vi } from 'vitest'
import { byHand, count, sqlitePlace } from '../../../../../test/support/sqlite-place.ts'
import { entryNumber } from '../../base/ids.ts'
import { newOperation, StoreFixture, said } from '../contract-suite/bench.ts'
import type { StoreFinding } from '../queries.ts'
import { readSqliteStore } from './read.ts'
import { Reader } from './worker/reader.ts'
import { Writer } from './worker/writer.ts'

const { newPath, open } = sqlitePlace()

/** Damage to a session row, and the column that the error must name. */
const HARMS = {
  "pending = '('": 'pending',
  "pending = 'null'": 'pending',
  "delivered = '{}'": 'delivered',
  "limits = '[]'": 'limits',
  "open_calls = '7'": 'open_calls',
  'tail = 1 << 40': 'tail',
  'tail = 1 << 62': 'tail',
  'fence = 1 << 62': 'fence',
}

/** Entry rows can only be damaged after their triggers are dropped. */
const UNGUARDED = `drop trigger entry_changes_by_erasure_only; drop trigger entry_is_never_deleted`

describe('a damaged row', () => {
  it.each(Object.entries(HARMS))(
    'of a session, %s: it is refused by name, and all other sessions continue [I21, I26, fault 69]',
    async (harm, column) => {
      const path = newPath()
      const store = await open(path)
      const [fixture, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
      await fixture.admit(said('before'))
      byHand(path, `update session set ${harm} where id = '${fixture.id}'`)
      const [refused, admitted] = await Promise.allSettled([
        fixture.tryAdmit(said('hi')),
        other.tryAdmit(said('ho')),
      ])
      expect(refused).toMatchObject({
        status: 'rejected',
        reason: {
          code: 'damaged-row',
          retryable: false,
          message: expect.stringMatching(new RegExp(`session ${fixture.id} .* column ${column} `)),
        },
      })
      expect(admitted).toMatchObject({ status: 'fulfilled', value: { kind: 'admitted' } })
      await expect(store.findSession(fixture.id)).rejects.toMatchObject({ code: 'damaged-row' })
      const named = (await store.verify({})).map(({ sessionId, problem }) => [sessionId, problem])
      expect(named[0]).toEqual([fixture.id, expect.stringContaining(`its column ${column} `)])
      for (const { runner } of [fixture.lease, other.lease]) {
        expect(await store.retireRunner({ runner })).toEqual({ kind: 'done' })
      }
      const query = { agents: ['ada'], at: 0, limit: 9 }
      expect((await store.readReady(query)).map(({ id }) => id)).toEqual([other.id])
    },
  )

  it('with the number of an earlier one does not trap a reader of pages in an endless loop', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    for (let turn = 0; turn < 150; turn++) await fixture.exchange(`ask ${turn}`, `answer ${turn}`)
    expect((await store.readAudit({ after: 500, limit: 9 })).length).toBeGreaterThan(0)
    await store.close()
    // Zeros on the disk are such a number, and it is the last row of the first page.
    renumber(path, 500, 0)
    const damaged = await readSqliteStore(path)
    const problems = (await damaged.verify({})).map(({ problem }) => problem)
    expect(problems.join()).toMatch(/audit/)
    await expect(damaged.readAudit({ after: 0, limit: 500 })).rejects.toMatchObject({
      code: 'damaged-row',
      message: expect.stringContaining('line 0 of the audit'),
    })
    await damaged.close()
  })

  it('of a session does not end a list: the next pages have all the others', async () => {
    const path = newPath()
    const store = await open(path)
    const fixtures = []
    for (let count = 0; count < 6; count++) fixtures.push(await StoreFixture.open(store))
    const ids = fixtures.map(({ id }) => id).sort()
    byHand(path, `update session set pins = '(' where id in ('${ids[1]}', '${ids[2]}')`)
    const first = await store.listSessions({ limit: 3 })
    expect(first.map(({ id }) => id)).toEqual([ids[0], ids[3], ids[4]])
    const [, , last] = first
    const rest = await store.listSessions({ limit: 3, ...(last && { after: last.id }) })
    expect(rest.map(({ id }) => id)).toEqual([ids[5]])
  })

  it('is left out of a list, but a read that fails for another reason throws', async () => {
    const path = newPath()
    await StoreFixture.open(await open(path))
    const reader = new Reader(path)
    const failing = vi.spyOn(StatementSync.prototype, 'get').mockImplementation(() => {
      throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
    })
    try {
      expect(() => reader.read('listSessions', { limit: 9 })).toThrow('disk I/O error')
    } finally {
      failing.mockRestore()
      reader.close()
    }
  })

  it('of a session that is missing: its other rows are refused by name and reported', async () => {
    const path = newPath()
    const before = await open(path)
    const route = { agent: 'ada', channel: 'web', address: 'room' }
    const fixture = await StoreFixture.open(before, { route })
    await fixture.exchange('hi', 'hello')
    await before.close()
    byHand(path, 'delete from session')
    const store = await open(path)
    const mail = { to: { route }, source: 'chat', key: 'k', lane: 'user', tokens: 1 } as const
    await expect(store.admit({ ...mail, body: 'x' })).rejects.toMatchObject({ code: 'damaged-row' })
    expect((await store.verify({})).map(({ problem }) => problem)).toEqual([
      'session row is missing, but the audit mentions it',
      'rows of a session that is not there (number 1): entry, mail, route, intake',
      'route ada web room is not as it was written',
    ])
  })

  it('of a session with a tail far beyond its entries: verify reads only existing rows', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    const other = await StoreFixture.open(store)
    for (const each of [fixture, other]) await each.exchange('hi', 'hello')
    byHand(path, `update session set tail = 2147483647 where id = '${fixture.id}'`)
    const reader = new Reader(path)
    const asked = vi.spyOn(StatementSync.prototype, 'all')
    const found = reader.read('verify', {}) as readonly StoreFinding[]
    expect(asked.mock.calls.length).toBeLessThan(100)
    asked.mockRestore()
    reader.close()
    expect(found.map(({ problem }) => problem)).toEqual([
      'entry 4 to 2147483647 are missing at the end',
      'session row is not as it was written',
    ])
  })

  it('of mail is reported with its number, and the others are checked [I19]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    for (const text of ['one', 'two', 'three']) await fixture.admit(said(text))
    byHand(
      path,
      `update mail set blobs = '(' where id & 3 = 2; update mail set body = '1' where id & 3 = 3`,
    )
    expect((await store.verify({})).map(({ problem }) => problem)).toEqual([
      'mail 2 cannot be read',
      'mail 3 has a body that does not match its hash',
    ])
  })

  it('of an entry keeps no other entry out of the index and blocks no purge', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('heliotrope', 'noted')
    await store.close()
    byHand(path, `${UNGUARDED}; delete from indexed`)
    byHand(path, 'delete from word_page; delete from passage_block')
    byHand(path, `update entry set meta = '(' where id & 3 = 1`)
    const writer = new Writer({ path, anchorPath: `${path}.anchor`, busyMs: 1_000, anchorMs: 0 })
    while (writer.maintain());
    writer.close()
    const database = new DatabaseSync(path)
    expect(database.prepare('select upto from indexed').get()).toEqual({
      upto: fixture.tail.number,
    })
    database.close()
    // So large that the row cannot be read to be sealed again.
    byHand(path, 'update mail set at = 1 << 62')
    const again = await open(path)
    const deletion = { sessionId: fixture.id, reason: 'asked for', operation: newOperation() }
    await again.deleteSession(deletion)
    const piece = { sessionId: fixture.id, limit: 100 }
    expect(await again.eraseSome(piece)).toMatchObject({ left: true })
    expect(await again.eraseSome(piece)).toMatchObject({ left: false })
    expect(count(path, 'select count(*) as n from mail where body is not null')).toBe(0)
  })
})

describe('an unreadable page', () => {
  it('ends the checks of the rows in it, which verify names, and no others [I19, fault 69]', async () => {
    const path = newPath()
    const store = await open(path)
    const [fixture, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
    for (const each of [fixture, other]) {
      for (let round = 0; round < 8; round++) {
        await each.exchange('x'.repeat(900), 'y'.repeat(900))
      }
    }
    await store.close()
    byHand(path, 'vacuum')
    const database = new DatabaseSync(path)
    const leaf = "select pageno from dbstat where name = 'entry' and pagetype = 'leaf' limit 1"
    const page = Number(database.prepare(leaf).get()?.['pageno'])
    database.close()
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0xff, (page - 1) * 4096, page * 4096))
    const harmed = await open(path)
    const range = { sessionId: fixture.id, from: entryNumber(1), to: fixture.tail.number }
    await expect(harmed.readEntries(range)).rejects.toMatchObject({ code: 'store-damaged' })
    const found = await harmed.verify({})
    expect(found[0]).toEqual({
      sessionId: fixture.id,
      entry: null,
      problem: expect.stringMatching(/^its rows cannot be read to the end: .*malformed/),
    })
    expect(found.filter(({ sessionId }) => sessionId === other.id)).toEqual([])
    expect(found.some(({ problem }) => /^(file: |the file cannot)/.test(problem))).toBe(true)
  })
})

describe('a session that cannot be indexed', () => {
  it('is not retried until it grows, so that the lock is not taken again and again', async () => {
    const path = newPath()
    const fixture = await StoreFixture.open(await open(path))
    await fixture.exchange('hi', 'hello')
    const writer = new Writer({ path, anchorPath: `${path}.anchor`, busyMs: 1_000, anchorMs: 0 })
    byHand(
      path,
      `delete from indexed; create trigger full before insert on indexed
      begin select raise(abort, 'no room'); end`,
    )
    // Grows, so that there is something to index.
    const { lease, tail } = fixture
    const request = { lease, tail, operation: newOperation(), body: [], tokens: 1 }
    for (let rounds = 0; writer.maintain(); rounds++) expect(rounds).toBeLessThan(10)
    const [result] = writer.commit([{ verb: 'setTasks', request }])
    expect(result).toMatchObject({ outcome: { kind: 'appended' } })
    for (let rounds = 0; writer.maintain(); rounds++) expect(rounds).toBeLessThan(10)
    writer.close()
  })
})

describe('verify and the anchor', () => {
  it('commits that only the anchor names are reported lost, to read-only users too [I19, I26]', async () => {
    const path = newPath()
    const store = await open(path, { anchorMs: 0 })
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('hi', 'hello')
    byHand(path, 'delete from audit where cursor = (select max(cursor) from audit)')
    const only = await readSqliteStore(path)
    for (const each of [store, only]) {
      const found = await each.verify({})
      expect(found.map(({ problem }) => problem)).toEqual([
        expect.stringMatching(/not the one that was anchored: it holds \d+ commits and its anchor/),
      ])
    }
    await only.close()
  })

  it('damage to the audit row that the anchor names is reported with its number; other checks continue', async () => {
    const path = newPath()
    const store = await open(path, { anchorMs: 0 })
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('hi', 'hello')
    const { commits } = await store.readStore()
    byHand(path, `update audit set facts = '(' where cursor = ${commits}`)
    byHand(path, `${UNGUARDED}; update entry set body = '1' where id & 3 = 1`)
    expect((await store.verify({})).map(({ problem }) => problem)).toEqual([
      'entry 1 has a body that does not match its hash',
      `audit row ${commits} cannot be read`,
      expect.stringMatching(/anchor cannot be compared with the audit/),
    ])
    expect(await fixture.tryAdmit(said('on'))).toMatchObject({ kind: 'admitted' })
  })
})

/** Changes the number of the row in a leaf of a table where it follows the number before. */
function renumber(path: string, from: number, to: number): void {
  const bytes = readFileSync(path)
  const numberAt = (cell: number): [at: number, number: number] => {
    let at = cell
    while (bytes.readUInt8(at) > 127) at += 1
    const first = bytes.readUInt8(at + 1)
    return [at + 1, first > 127 ? ((first & 127) << 7) + bytes.readUInt8(at + 2) : first]
  }
  let changed = 0
  for (let page = 4_096; page < bytes.length; page += 4_096) {
    if (bytes.readUInt8(page) !== 13) continue
    const cells = Array.from({ length: bytes.readUInt16BE(page + 3) }, (_, index) =>
      numberAt(page + bytes.readUInt16BE(page + 8 + 2 * index)),
    )
    cells.forEach(([at, number], index) => {
      if (number !== from || cells[index - 1]?.[1] !== from - 1) return
      bytes.writeUInt8(128 + (to >> 7), at)
      bytes.writeUInt8(to & 127, at + 1)
      changed += 1
    })
  }
  expect(changed).toBe(1)
  writeFileSync(path, bytes)
}
