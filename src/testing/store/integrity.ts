import assert from 'node:assert/strict'
import { entryNumber } from '../../base/ids.ts'
import type { StoreBench, StoreCase } from './case.ts'
import { Desk, replyTo, said } from './desk.ts'

export async function talked({ store }: StoreBench): Promise<Desk> {
  const desk = await Desk.open(store)
  for (let round = 0; round < 4; round++) await desk.exchange(`q${round}`, `a${round}`)
  return desk
}

const five = entryNumber(5)

export const integrity: readonly StoreCase[] = [
  {
    name: 'a store in order has no findings [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await desk.compact(4)
      await desk.pin('a', 'x', 1)
      assert.deepEqual(await bench.store.verify({}), [])
    },
  },
  {
    name: 'every entry carries the hash of the one before [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      const range = { sessionId: desk.id, from: entryNumber(1), to: desk.tail.number }
      const entries = await bench.store.readEntries(range)
      for (const [index, entry] of entries.slice(1).entries()) {
        assert.equal(entry.prevHash, entries[index]?.hash)
      }
      assert.equal(entries.at(-1)?.hash, (await desk.row()).tailHash)
    },
  },
  {
    name: 'equal texts have different hashes: salts are drawn anew [I19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('same', 'same')
      const range = { sessionId: desk.id, from: entryNumber(1), to: entryNumber(2) }
      const [one, two] = await store.readEntries(range)
      assert.notEqual(one?.bodyHash, two?.bodyHash)
    },
  },
  {
    name: 'a changed body is found and placed [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await bench.harm.changeBody(desk.id, five)
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [5],
      )
    },
  },
  {
    name: 'a changed head is found and placed [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await bench.harm.changeHead(desk.id, five)
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [5],
      )
    },
  },
  {
    name: 'a missing entry is found and placed [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await bench.harm.remove(desk.id, five)
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [5],
      )
      assert.match(findings[0]?.problem ?? '', /missing/)
    },
  },
  {
    name: 'a missing last entry is found by the tail of the session [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await bench.harm.remove(desk.id, desk.tail.number)
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [desk.tail.number],
      )
    },
  },
  {
    name: 'swapped entries are found where they were swapped [I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await bench.harm.swap(desk.id, five, entryNumber(6))
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.equal(findings[0]?.entry, 5)
      assert.ok(findings.some(({ entry }) => entry === 6))
    },
  },
  {
    name: 'a session row that differs from its entries is found [I9, I19]',
    run: async (bench) => {
      const desk = await talked(bench)
      await desk.compact(4)
      await bench.harm.changeSessionRow(desk.id)
      const findings = await bench.store.verify({ sessionId: desk.id })
      assert.match(findings[0]?.problem ?? '', /covers/)
    },
  },
  {
    name: 'a changed audit row is found [I19, I20]',
    run: async (bench) => {
      await talked(bench)
      await bench.harm.changeAudit(3)
      const findings = await bench.store.verify({})
      assert.match(findings[0]?.problem ?? '', /audit row 3/)
    },
  },
  {
    name: 'damage to one session is not blamed on another [I21]',
    run: async (bench) => {
      const desk = await talked(bench)
      const other = await talked(bench)
      await bench.harm.changeBody(desk.id, five)
      assert.deepEqual(await bench.store.verify({ sessionId: other.id }), [])
      assert.equal((await bench.store.verify({})).length, 1)
    },
  },
  {
    name: 'the audit is one gap-free sequence, read from any cursor [I20]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('a', 'b')
      const all = await store.readAudit({ after: 0, limit: 1_000 })
      assert.deepEqual(
        all.map(({ cursor }) => cursor),
        all.map((_, index) => index + 1),
      )
      const rest = await store.readAudit({ after: 2, limit: 2 })
      assert.deepEqual(rest, all.slice(2, 4))
      const row = await store.readStore()
      assert.deepEqual([row.commits, row.hash], [all.length, all.at(-1)?.hash])
    },
  },
  {
    name: 'audit rows hold no words of a message [I17]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('canary question', 'canary answer', [{ ...replyTo('a'), body: 'canary' }])
      await desk.compact(1)
      const lines = await store.readAudit({ after: 0, limit: 1_000 })
      assert.ok(!JSON.stringify(lines).includes('canary'))
    },
  },
  {
    name: 'mail and entry numbers are gap-free after refusals of every kind [I2]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.admit(said('1'), { key: 'k' })
      await desk.tryAdmit(said('2'), { key: 'k' })
      await desk.tryAdmit(said('3'), { blobs: ['none'] })
      await desk.tryAdmit('x'.repeat(5_000_000))
      const mail = await desk.admit(said('4'))
      assert.equal(mail, 2)
      await store.deliver({ ...desk.fenced(), mail: [mail] })
      assert.deepEqual(await desk.deliver(mailOne(), mail), [1, 2])
    },
  },
  {
    name: 'a closed store refuses further verbs by name',
    run: async ({ sibling }) => {
      const store = await sibling()
      await store.close()
      await store.close()
      await assert.rejects(store.renew({ runner: 'r' as never }), { code: 'store-closed' })
      await assert.rejects(store.listRunners(), { code: 'store-closed' })
    },
  },
  {
    name: 'a watcher hears of a commit, and no longer after it let go',
    run: async ({ store }) => {
      let heard = 0
      const desk = await Desk.open(store)
      const told = new Promise<void>((resolve) => {
        const stop = store.watch(() => {
          heard += 1
          stop()
          resolve()
        })
      })
      await desk.admit(said('hi'))
      await told
      await desk.admit(said('ho'))
      assert.equal(heard, 1)
    },
  },
]

function mailOne() {
  return 1 as Parameters<Desk['deliver']>[0]
}
