import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  SQLITE_TO_8,
  SQLITE_TO_15,
  SQLITE_TO_18,
} from '../../../../../../test/support/earlier-schemas.ts'
import { byHand, count, sqlitePlace } from '../../../../../../test/support/sqlite-place.ts'
import { until } from '../../../../../../test/support/until.ts'
import { entryNumber } from '../../../base/ids.ts'
import { expectKind, newOperation, StoreFixture, said } from '../../contract-suite/bench.ts'
import { SqliteConnection } from '../connection.ts'
import { Writer } from '../worker/writer.ts'
import { IndexWork, runsIn } from './word-index.ts'

const { newPath, open } = sqlitePlace()

describe('search index', () => {
  it('catches up after appends and finds the same as before', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    for (let index = 0; index < 50; index++) {
      await fixture.deliver(await fixture.admit(said(`word${index} common`), { tokens: 1 }))
    }
    const query = { sessionId: fixture.id, text: 'word7 common', limit: 50, neighbours: 0 }
    const before = (await store.search(query)).hits.map(({ entry }) => entry.number)
    await until(() => count(path, 'select upto as n from indexed') === 50)
    const after = (await store.search(query)).hits.map(({ entry }) => entry.number)
    expect(after).toEqual(before)
    expect(after[0]).toBe(8)
    expect(after.length).toBe(50)
  })

  it('knows whether an indexed message is of a person or a notification', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('an orchid', 'noted')
    await fixture.deliver(await fixture.admit(said('an orchid'), { lane: 'notification' }))
    await until(() => count(path, 'select upto as n from indexed') === 4)
    const foundOf = async (speaker: 'person' | 'notification') => {
      const query = { sessionId: fixture.id, text: 'orchid', speaker, limit: 5, neighbours: 0 }
      return (await store.search(query)).hits.map(({ entry }) => entry.number)
    }
    expect([await foundOf('person'), await foundOf('notification')]).toEqual([[1], [4]])
  })

  it('finds every word after its runs were merged', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    const words = Array.from({ length: 16 }, (_, at) => `orchid${at}`)
    for (const [at, word] of words.entries()) {
      await fixture.hear(word)
      await until(() => count(path, 'select upto as n from indexed') === at + 1)
    }
    await until(() => count(path, 'select count(distinct run) as n from word_page') < 9)
    for (const text of words) {
      const query = { sessionId: fixture.id, text, limit: 5, neighbours: 0 }
      expect((await store.search(query)).total).toBe(1)
    }
  })

  it('takes few long messages at a time, so that commits do not wait', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    for (let index = 0; index < 8; index++) {
      await fixture.hear(`orchid${index} ${'word '.repeat(20_000)}`)
    }
    await until(() => count(path, 'select upto as n from indexed') === 8)
    await store.close()
    byHand(path, 'delete from indexed; delete from word_page; delete from passage_block')
    byHand(path, `update word_runs set runs = '[]'; delete from word_total`)
    const db = new SqliteConnection(path, { readOnly: false, busyMs: 100 })
    const work = new IndexWork(db)
    const steps: number[] = []
    while (work.isLeft) {
      work.step(() => false)()
      steps.push(db.get('select upto from indexed')?.['upto'] as number)
    }
    db.close()
    expect(steps.slice(0, 4)).toEqual([2, 4, 6, 8])
    const next = await open(path)
    const query = { sessionId: fixture.id, text: 'orchid7', limit: 5, neighbours: 0 }
    expect((await next.search(query)).total).toBe(1)
  })

  it('is completed by the next process if one ends before indexing', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.hear('left behind')
    await store.close()
    byHand(path, 'delete from indexed')
    byHand(path, 'delete from word_page; delete from passage_block')
    const next = await open(path)
    await StoreFixture.open(next)
    await until(() => count(path, 'select count(*) as n from indexed') === 1)
    const query = { sessionId: fixture.id, text: 'behind', limit: 5, neighbours: 0 }
    expect((await next.search(query)).hits.length).toBe(1)
  })

  it('is rebuilt from a store of an earlier schema', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.hear('an orchid from before')
    await store.close()
    byHand(path, SQLITE_TO_8)
    const next = await open(path)
    const query = { sessionId: fixture.id, text: 'orchids', limit: 5, neighbours: 0 }
    expect((await next.search(query)).hits.length).toBe(1)
    await until(() => count(path, 'select coalesce(max(upto), 0) as n from indexed') === 1)
    expect((await next.search(query)).hits.length).toBe(1)
  })

  it('is built again if its roots are those of an earlier schema', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.hear('an orchid from before')
    await until(() => count(path, 'select upto as n from indexed') === 1)
    await store.close()
    byHand(path, `${SQLITE_TO_15} drop table embedded; drop table entry_vector`)
    byHand(path, 'delete from word_page; pragma user_version = 13')
    const next = await open(path)
    const query = { sessionId: fixture.id, text: 'orchids', limit: 5, neighbours: 0 }
    expect((await next.search(query)).total).toBe(1)
    await until(() => count(path, 'select count(*) as n from word_page') === 1)
    expect((await next.search(query)).total).toBe(1)
  })

  it('is built again if its bytes are those of an earlier schema', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.hear('an orchid from before')
    await until(() => count(path, 'select upto as n from indexed') === 1)
    await store.close()
    byHand(path, `update word_page set lists = x'ff'; update word_total set totals = '{"live":1}'`)
    byHand(
      path,
      `${SQLITE_TO_18} update indexed set state = '{"upto":1}'; pragma user_version = 17`,
    )
    const next = await open(path)
    for (const sessionId of [fixture.id, {}]) {
      const query = { sessionId, text: 'orchids', limit: 5, neighbours: 0 }
      expect(await next.search(query)).toMatchObject({ total: 1, pending: 0 })
      await until(() => count(path, 'select count(*) as n from word_page') === 1)
      expect(await next.search(query)).toMatchObject({ total: 1, pending: 0 })
    }
  })

  it.each([
    'update passage_block set entries = zeroblob(length(entries))',
    'update passage_block set lengths = zeroblob(length(lengths))',
    'update passage_block set entries = substr(entries, 1, 8)',
    'delete from passage_block',
    `update word_page set lists = x'ff'`,
    `update indexed set state = '('`,
    `update indexed set state = '[1]'`,
    `update word_runs set runs = '[{}]'`,
    `update word_total set totals = '('`,
    `update word_total set totals = '{"live":1}'`,
  ])('%s: a search reports the damage instead of finding less [I26]', async (harm) => {
    const path = newPath()
    const store = await open(path)
    const [fixture, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
    for (const each of [fixture, other]) await each.hear('an orchid', 'a rose')
    await until(() => count(path, 'select sum(upto) as n from indexed') === 4)
    const asked = [fixture.id, [fixture.id, other.id], {}].map((sessionId) => {
      return { sessionId, text: 'orchids', limit: 5, neighbours: 0 }
    })
    await store.close()
    byHand(path, harm)
    const next = await open(path)
    for (const query of asked) {
      await expect(next.search(query)).rejects.toMatchObject({
        code: 'damaged-row',
        message: expect.stringMatching(
          /search index .* `throughline doctor --fix` builds it again/,
        ),
      })
    }
  })

  it('includes other sessions if one cannot be indexed [I21]', async () => {
    const path = newPath()
    const store = await open(path)
    const [bad, good] = [await StoreFixture.open(store), await StoreFixture.open(store)]
    await bad.exchange('orchid', 'noted')
    await good.exchange('orchid', 'noted')
    await until(() => count(path, 'select count(*) as n from indexed') === 2)
    await store.close()
    byHand(
      path,
      `drop trigger entry_changes_by_erasure_only;
       delete from indexed; delete from word_page; delete from passage_block;
       update entry set body = '{orchid' where id = 1 << 31 | 1;
       update entry set meta = '(' where id = 1 << 31 | 2`,
    )
    const again = await open(path)
    await again.admit({
      ...{ to: { sessionId: good.id }, source: 's', key: 'k', lane: 'user' },
      ...{ tokens: 1, body: said('wake') },
    })
    await until(() => count(path, 'select coalesce(max(upto), 0) as n from indexed') === 3)
  })

  it('keeps the words of sessions apart [I21]', async () => {
    const path = newPath()
    const store = await open(path)
    const one = await StoreFixture.open(store)
    const other = await StoreFixture.open(store)
    await one.hear('nothing of note', 'a canary')
    await other.hear('shared words', 'nothing')
    await until(() => count(path, 'select sum(upto) as n from indexed') === 4)
    const find = async ({ id }: StoreFixture, text: string) =>
      (await store.search({ sessionId: id, text, limit: 5, neighbours: 0 })).total
    expect([await find(other, 'canary'), await find(one, 'canary')]).toEqual([0, 1])
    const canary = "select count(*) as n from word_page where instr(lists, x'63616e617269') > 0"
    expect(count(path, canary)).toBe(1)
    await one.erase([entryNumber(2)])
    expect(count(path, canary)).toBe(0)
    expect([await find(one, 'nothing'), await find(other, 'nothing')]).toEqual([1, 1])
  })

  it('is not reported as damaged by a connection that has searched before [I26]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.hear('words')
    await until(() => count(path, 'select upto as n from indexed') === 1)
    await store.search({ sessionId: fixture.id, text: 'words', limit: 5, neighbours: 0 })
    // Erases the only word of its segment, and so the segment.
    await fixture.erase([entryNumber(1)])
    expect(await store.verify({})).toEqual([])
  })

  it('leaves erased words in no file of the store [I19]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('zanzibarqux stays secret', 'noted')
    await fixture.exchange('a harmless secret', 'noted')
    await until(() => count(path, 'select upto as n from indexed') === 6)
    await fixture.erase([entryNumber(1)])
    const query = { sessionId: fixture.id, text: 'secret', limit: 5, neighbours: 0 }
    expect((await store.search(query)).hits.map(({ entry }) => entry.number)).toEqual([4])
    expect(await store.verify({})).toEqual([])
    // Only the WAL may be read while the store is open: it has no locks.
    await until(() => !readFileSync(`${path}-wal`).includes('zanzibarqux'))
    await store.close()
    for (const name of [path, `${path}-wal`, `${path}.anchor`].filter(existsSync)) {
      expect(readFileSync(name).includes('zanzibarqux')).toBe(false)
    }
  })

  it('leaves no sender names of a deleted session [I19]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.admit(said('hi'), { source: 'zanzibarqux' })
    await store.deleteSession({ sessionId: fixture.id, operation: newOperation(), reason: 'asked' })
    while (expectKind(await store.eraseSome({ sessionId: fixture.id, limit: 9 }), 'erased').left);
    await store.close()
    expect(readFileSync(path).includes('zanzibarqux')).toBe(false)
  })

  it('waits longer while commits keep coming, unless many entries wait for it', () => {
    const path = newPath()
    new Writer({ path, anchorPath: `${path}.anchor`, busyMs: 100, anchorMs: 3_600_000 }).close()
    const db = new SqliteConnection(path, { readOnly: false, busyMs: 100 })
    const work = new IndexWork(db)
    expect(work.isDue(performance.now(), performance.now())).toBe(false)

    work.add(1, 1)
    expect(work.isDue(performance.now(), performance.now())).toBe(true)
    const before = performance.now()
    work.step(() => true)()
    const after = performance.now()
    work.add(1, 1)
    expect(work.isDue(before + 100, before + 100)).toBe(false)
    expect(work.isDue(after + 100, after)).toBe(true)
    expect(work.isDue(after + 250, after + 250)).toBe(true)

    work.add(2, 800)
    expect(work.isDue(after + 100, after + 100)).toBe(true)
    expect(runsIn(db)).toEqual([])
    db.close()
  })

  it('waits as soon as no more than 800 entries are left', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    for (let index = 0; index < 3; index++) await fixture.hear('word '.repeat(60_000))
    await until(() => count(path, 'select upto as n from indexed') === 3)
    await store.close()
    byHand(path, 'delete from indexed; delete from word_page; delete from passage_block')
    byHand(path, `update word_runs set runs = '[]'; delete from word_total`)
    const db = new SqliteConnection(path, { readOnly: false, busyMs: 100 })
    const work = new IndexWork(db)
    const [{ n = 0 } = {}] = db.all('select n from session')
    work.add(Number(n), 799)
    const isDueSoon = () => {
      work.step(() => true)()
      const after = performance.now()
      return work.isDue(after + 100, after + 100)
    }
    // Of 802, as each message takes a step of its own.
    expect([isDueSoon(), isDueSoon(), work.isLeft]).toEqual([true, false, true])
    db.close()
  })
})
