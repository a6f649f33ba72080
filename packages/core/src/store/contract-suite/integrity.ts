import assert from 'node:assert/strict'
import { entryNumber, mailNumber, runnerId } from '../../base/ids.ts'
import type { StoreFinding } from '../queries.ts'
import { textsLeft } from '../verify/session.ts'
import { expectKind, newOperation, replyTo, StoreFixture, said } from './bench.ts'
import type { StoreBench, StoreCase } from './case.ts'

export async function talked({ store }: StoreBench): Promise<StoreFixture> {
  const fixture = await StoreFixture.open(store)
  for (let round = 0; round < 4; round++) await fixture.exchange(`q${round}`, `a${round}`)
  return fixture
}

const five = entryNumber(5)
/** Of `talked`: twelve entries, and the four messages among them. */
const TEXTS = 16

function about(fixture: StoreFixture, problem: string): StoreFinding {
  return { sessionId: fixture.id, entry: null, problem }
}

function byProblem(one: StoreFinding, other: StoreFinding): number {
  return one.problem < other.problem ? -1 : 1
}

export const integrity: readonly StoreCase[] = [
  {
    name: 'verify reports nothing about an undamaged store [I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await fixture.compact(4)
      await fixture.pin('a', 'x', 1)
      assert.deepEqual(await bench.store.verify({}), [])
    },
  },
  {
    name: 'every entry carries the hash of the one before [I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      const range = { sessionId: fixture.id, from: entryNumber(1), to: fixture.tail.number }
      const entries = await bench.store.readEntries(range)
      for (const [index, entry] of entries.slice(1).entries()) {
        assert.equal(entry.prevHash, entries[index]?.hash)
      }
      assert.equal(entries.at(-1)?.hash, (await fixture.row()).tailHash)
    },
  },
  {
    name: 'equal texts have different hashes, because each has its own salt [I19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('same', 'same')
      const range = { sessionId: fixture.id, from: entryNumber(1), to: entryNumber(2) }
      const [one, two] = await store.readEntries(range)
      assert.notEqual(one?.bodyHash, two?.bodyHash)
    },
  },
  {
    name: 'verify names the entry whose body was changed [I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await bench.harm.changeBody(fixture.id, five)
      const findings = await bench.store.verify({ sessionId: fixture.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [5],
      )
    },
  },
  {
    name: 'verify names the entry whose metadata was changed [I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await bench.harm.changeHead(fixture.id, five)
      const findings = await bench.store.verify({ sessionId: fixture.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [5],
      )
    },
  },
  {
    name: 'verify names a missing entry [I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await bench.harm.remove(fixture.id, five)
      const findings = await bench.store.verify({ sessionId: fixture.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [5],
      )
      assert.match(findings[0]?.problem ?? '', /missing/)
    },
  },
  {
    name: 'verify finds a missing last entry by the tail of the session [I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await bench.harm.remove(fixture.id, fixture.tail.number)
      const findings = await bench.store.verify({ sessionId: fixture.id })
      assert.deepEqual(
        findings.map(({ entry }) => entry),
        [fixture.tail.number],
      )
    },
  },
  {
    name: 'verify names the place of two swapped entries [I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await bench.harm.swap(fixture.id, five, entryNumber(6))
      const findings = await bench.store.verify({ sessionId: fixture.id })
      assert.equal(findings[0]?.entry, 5)
      assert.ok(findings.some(({ entry }) => entry === 6))
    },
  },
  {
    name: 'verify finds a session row that contradicts its entries [I9, I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await fixture.compact(4)
      await bench.harm.changeSessionRow(fixture.id)
      const findings = await bench.store.verify({ sessionId: fixture.id })
      assert.match(findings[0]?.problem ?? '', /covers/)
    },
  },
  {
    name: 'verify names a changed audit row [I19, I20]',
    run: async (bench) => {
      await talked(bench)
      await bench.harm.changeAudit(3)
      const findings = await bench.store.verify({})
      assert.match(findings[0]?.problem ?? '', /audit row 3/)
    },
  },
  {
    name: 'verify finds by the session row that the end of the audit is missing [I19, I20]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await fixture.admit(said('the last that was told'))
      await bench.harm.cutAudit()
      // Files beside a store may also record the commit.
      const found = (await bench.store.verify({})).filter(({ sessionId }) => sessionId !== null)
      assert.deepEqual(found, [about(fixture, 'session row says mail 5, the audit says 4')])
    },
  },
  {
    name: 'verify finds by the audit that a session row is missing [I5, I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      const other = await talked(bench)
      await bench.harm.removeSession(fixture.id)
      const problem = 'session row is missing, but the audit mentions it'
      const found = await bench.store.verify({})
      assert.deepEqual(found[0], about(fixture, problem))
      assert.deepEqual(
        found.filter(({ sessionId }) => sessionId === other.id),
        [],
      )
      assert.deepEqual((await bench.store.verify({ sessionId: fixture.id }))[0], found[0])
      assert.deepEqual(await bench.store.verify({ sessionId: other.id }), [])
    },
  },
  {
    name: 'verify names changed mail, delivered or not [I1, I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await fixture.admit(said('pay 100'))
      const last = await fixture.admit({}, { lane: 'control', control: 'compact', tokens: 0 })
      for (const number of [2, 5, last]) await bench.harm.changeMail(fixture.id, mailNumber(number))
      assert.deepEqual(
        await bench.store.verify({ sessionId: fixture.id }),
        [2, 5, 6].map((number) =>
          about(fixture, `mail ${number} has a body that does not match its hash`),
        ),
      )
    },
  },
  {
    name: 'verify names missing mail, in the middle and at the end [I2, I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      await fixture.admit(said('waits'))
      // From the end, so that the numbers before it stay valid.
      for (const number of [5, 3, 2]) await bench.harm.removeMail(fixture.id, mailNumber(number))
      assert.deepEqual(await bench.store.verify({ sessionId: fixture.id }), [
        about(fixture, 'mail 2 to 3 is missing'),
        about(fixture, 'mail 5 is missing'),
      ])
    },
  },
  {
    name: 'verify names a changed or missing blob and the entry or mail that uses it [I19]',
    run: async (bench) => {
      const { store, harm } = bench
      const fixture = await talked(bench)
      const blobs: string[] = []
      for (const byte of [1, 2, 3, 4]) {
        const file = { sessionId: fixture.id, mediaType: 'a/b', bytes: new Uint8Array([byte]) }
        blobs.push(expectKind(await store.stageBlob(file), 'staged').hash)
      }
      const [seen = '', shown = '', waiting = '', staged = ''] = blobs
      const [entry = five] = await fixture.deliver(
        await fixture.admit(said('look'), { blobs: [seen] }),
      )
      await fixture.reply('see', { ends: 'answered', blobs: [shown] })
      await fixture.admit(said('later'), { blobs: [waiting, seen] })
      assert.deepEqual(await store.verify({}), [])
      await harm.changeBlob(fixture.id, seen)
      await harm.changeBlob(fixture.id, staged)
      await harm.removeBlob(fixture.id, shown)
      await harm.removeBlob(fixture.id, waiting)
      const found = await store.verify({ sessionId: fixture.id })
      const broken = (hash: string) => `blob ${hash} has bytes that do not match its hash`
      const expected = [
        { ...about(fixture, `${broken(seen)} (entry ${entry} uses it)`), entry },
        about(fixture, broken(staged)),
        {
          ...about(fixture, `entry 14 uses blob ${shown}, which is missing`),
          entry: entryNumber(14),
        },
        about(fixture, `mail 6 uses blob ${waiting}, which is missing`),
      ]
      assert.deepEqual(found.toSorted(byProblem), expected.toSorted(byProblem))
    },
  },
  {
    name: 'verify reports nothing about a session that is being erased, or is gone [I19]',
    run: async (bench) => {
      const { store } = bench
      const fixture = await talked(bench)
      const file = { sessionId: fixture.id, mediaType: 'a/b', bytes: new Uint8Array([1]) }
      const { hash } = expectKind(await store.stageBlob(file), 'staged')
      await fixture.deliver(await fixture.admit(said('look'), { blobs: [hash] }))
      const end = { sessionId: fixture.id, reason: 'asked for', operation: newOperation() }
      await store.deleteSession(end)
      for (let left = true; left; ) {
        const piece = await store.eraseSome({ sessionId: fixture.id, limit: 2 })
        left = expectKind(piece, 'erased').left
        assert.deepEqual(await store.verify({}), [])
      }
    },
  },
  {
    name: 'verify reports a session whose row says deleted without a deletion [I19]',
    run: async (bench) => {
      const fixture = await talked(bench)
      for (const state of ['erasing', 'gone'] as const) {
        await bench.harm.changeState(fixture.id, state)
        const problem = `session row says state ${state}, but the audit has no deletion`
        const left = state === 'gone' ? [about(fixture, textsLeft(TEXTS))] : []
        assert.deepEqual(await bench.store.verify({}), [...left, about(fixture, problem)])
      }
    },
  },
  {
    name: 'verify finds a deleted session whose row says that it is open, or gone too early [I19]',
    run: async (bench) => {
      const { store, harm } = bench
      const fixture = await talked(bench)
      const end = { sessionId: fixture.id, reason: 'asked for', operation: newOperation() }
      await store.deleteSession(end)
      const gone = 'session row says state gone, but the audit has no deletion'
      await harm.changeState(fixture.id, 'gone')
      assert.deepEqual(await store.verify({}), [
        about(fixture, textsLeft(TEXTS)),
        about(fixture, gone),
      ])
      const open = 'session row says state open, but the audit has its deletion'
      await harm.changeState(fixture.id, 'open')
      assert.deepEqual(await store.verify({}), [about(fixture, open)])
      await harm.changeState(fixture.id, 'erasing')
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'verify names an entry that lost its text without an erasure [I19]',
    run: async (bench) => {
      const { store, harm } = bench
      const fixture = await talked(bench)
      expectKind(await fixture.erase([entryNumber(3)]), 'erased')
      await harm.empty(fixture.id, five)
      const problem = 'entry 5 has lost its text, and no erasure of it is recorded'
      assert.deepEqual(await store.verify({}), [{ ...about(fixture, problem), entry: five }])
      // To erase it accepts the loss.
      expectKind(await fixture.erase([five]), 'erased')
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'verify does not report damage to one session for another [I21]',
    run: async (bench) => {
      const fixture = await talked(bench)
      const other = await talked(bench)
      await bench.harm.changeBody(fixture.id, five)
      assert.deepEqual(await bench.store.verify({ sessionId: other.id }), [])
      assert.equal((await bench.store.verify({})).length, 1)
    },
  },
  {
    name: 'the audit is one gap-free sequence, read from any cursor [I20]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
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
    name: 'audit rows contain no text of a message [I17]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('canary question', 'canary answer', [
        { ...replyTo('a'), body: 'canary' },
      ])
      await fixture.compact(1)
      const lines = await store.readAudit({ after: 0, limit: 1_000 })
      assert.ok(!JSON.stringify(lines).includes('canary'))
    },
  },
  {
    name: 'mail and entry numbers are gap-free after refusals of every kind [I2]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.admit(said('1'), { key: 'k' })
      await fixture.tryAdmit(said('2'), { key: 'k' })
      await fixture.tryAdmit(said('3'), { blobs: ['none'] })
      await fixture.tryAdmit('x'.repeat(5_000_000))
      const mail = await fixture.admit(said('4'))
      assert.equal(mail, 2)
      await store.deliver({ ...fixture.fenced(), mail: [mail] })
      assert.deepEqual(await fixture.deliver(mailOne(), mail), [1, 2])
    },
  },
  {
    name: 'a closed store refuses requests with the code store-closed',
    run: async ({ sibling }) => {
      const store = await sibling()
      await store.close()
      await store.close()
      await assert.rejects(store.renew({ runner: runnerId('r') }), { code: 'store-closed' })
      await assert.rejects(store.listRunners(), { code: 'store-closed' })
    },
  },
  {
    name: 'a watcher is called for a commit, and no more once it has stopped watching',
    run: async ({ store }) => {
      let heard = 0
      const fixture = await StoreFixture.open(store)
      const told = new Promise<void>((resolve) => {
        const stop = store.watch(() => {
          heard += 1
          stop()
          resolve()
        })
      })
      await fixture.admit(said('hi'))
      await told
      await fixture.admit(said('ho'))
      assert.equal(heard, 1)
    },
  },
]

function mailOne() {
  return 1 as Parameters<StoreFixture['deliver']>[0]
}
