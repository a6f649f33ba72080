import assert from 'node:assert/strict'
import { entryNumber, type SessionId } from '../../../base/ids.ts'
import { expectKind, newOperation, register, StoreFixture, said } from '../bench.ts'
import type { StoreCase } from '../case.ts'
import {
  entriesOf,
  everyWordOf,
  forkAt,
  linesOf,
  purgeWhole,
  sendFile,
  talkedThrice,
  tryFork,
} from './forks.ts'

const one = entryNumber(1)

export const forkErasures: readonly StoreCase[] = [
  {
    name: 'an erasure reaches every fork that reads the entry, and no other [I38]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      const deep = await forkAt(store, fork.id, 7)
      const early = await forkAt(store, origin.id, 3)
      expectKind(await origin.erase([entryNumber(4)]), 'erased')
      for (const { id } of [origin, fork, deep]) {
        assert.ok(!(await everyWordOf(store, id)).includes('second canary'))
      }
      assert.deepEqual(
        [(await fork.row()).owed, (await deep.row()).owed, (await early.row()).owed],
        [[4], [4], []],
      )
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'handoffs of forks that cover the erased entry are emptied in the same commit [I38, I39]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      const handoff = await fork.compact(5)
      const deep = await forkAt(store, fork.id, handoff)
      expectKind(await origin.erase([entryNumber(4)]), 'erased')
      for (const { id } of [fork, deep]) {
        const entries = await entriesOf(store, id)
        assert.equal(entries.find(({ number }) => number === handoff)?.body, null)
        assert.deepEqual((await store.findSession(id))?.owed, [4, handoff])
      }
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a fork settles an owed erasure with an erasure entry, and a new handoff if it lost its own [I39]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      const handoff = await fork.compact(5)
      expectKind(await origin.erase([entryNumber(4)]), 'erased')
      const { owed } = await fork.row()
      const request = () => ({ ...fork.fenced(), entries: [], reason: 'owed' })
      expectKind(await store.eraseEntries(request()), 'replacement-needed')
      const replacement = { body: { summary: 'clean' }, tokens: 5 }
      const old = await store.eraseEntries({ ...request(), replacement, owed: [one] })
      assert.deepEqual(old, { kind: 'superseded', by: 'tail' })
      const paid = expectKind(
        await store.eraseEntries({ ...request(), replacement, owed }),
        'erased',
      )
      assert.deepEqual(paid.entries, [4, handoff])
      const row = await fork.row()
      assert.deepEqual([row.owed, row.effective, row.covers], [[], paid.tail.number, 5])
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'an owed erasure makes a fork ready and supersedes its compactions [I38, I39]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      const running = await fork.claim(5)
      expectKind(await origin.erase([entryNumber(4)]), 'erased')
      assert.equal((await store.findOperation(running))?.state, 'superseded')
      assert.deepEqual(await fork.tryCommit(running), { kind: 'ended', state: 'superseded' })
      assert.deepEqual(await fork.tryClaim(5), { kind: 'superseded', by: 'tail' })
      expectKind(await store.release({ lease: fork.lease, reason: 'shutdown' }), 'done')
      const ready = await store.readReady({ agents: ['ada'], at: 0, limit: 50 })
      assert.ok(ready.some(({ id }) => id === fork.id))
    },
  },
  {
    name: "an entry of a fork's prefix is erased in its origin, not in the fork [I38]",
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      const refused = expectKind(await fork.erase([entryNumber(4)]), 'elsewhere')
      assert.equal(refused.sessionId, origin.id)
      const open = { entries: [entryNumber(4)], operation: newOperation(), reason: 'asked' }
      expectKind(await store.eraseRetained({ ...open, sessionId: origin.id }), 'open')
      await purgeWhole(store, origin.id, 'keep')
      const erasure = { ...open, sessionId: origin.id }
      expectKind(await store.eraseRetained(erasure), 'erased')
      // Requested again because the answer was lost: succeeds, and is reported once.
      expectKind(await store.eraseRetained(erasure), 'erased')
      const audit = await store.readAudit({ after: 0, limit: 500 })
      assert.equal(audit.filter(({ operation }) => operation === erasure.operation).length, 1)
      assert.ok(!(await everyWordOf(store, fork.id)).includes('second canary'))
      assert.deepEqual((await fork.row()).owed, [4])
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'verify accepts an erased entry of a deleted origin in every fork of its forks [I19, I38]',
    run: async ({ store, harm }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      await purgeWhole(store, origin.id, 'keep')
      const erasure = { sessionId: origin.id, operation: newOperation(), reason: 'asked' }
      const entries = [entryNumber(4)]
      expectKind(await store.eraseRetained({ ...erasure, entries }), 'erased')
      const deep = await forkAt(store, fork.id, 6)
      for (const { id } of [fork, deep]) assert.equal((await entriesOf(store, id))[3]?.body, null)
      assert.deepEqual(await store.verify({}), [])
      await harm.empty(origin.id, entryNumber(2))
      const problem = 'entry 2 has lost its text, and no erasure of it is recorded'
      assert.deepEqual(
        (await store.verify({})).map((found) => [found.sessionId, found.problem]),
        [fork, deep].map(({ id }) => [id, problem]),
      )
    },
  },
  {
    name: 'an erasure in a fork does not excuse a missing text in its origin [I19]',
    run: async ({ store, harm }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 3)
      for (const text of ['own', 'more']) await fork.exchange(text, 'noted')
      expectKind(await fork.erase([entryNumber(5)]), 'erased')
      assert.deepEqual(await store.verify({}), [])
      await harm.empty(origin.id, entryNumber(5))
      assert.deepEqual(
        (await store.verify({})).map(({ sessionId, entry }) => [sessionId, entry]),
        [[origin.id, 5]],
      )
    },
  },
  {
    name: 'a fork made after an erased handoff owes a new one [I39]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const handoff = await origin.compact(5)
      await origin.exchange('more', 'yes')
      const at = origin.tail.number
      expectKind(await origin.erase([entryNumber(4)], 'clean'), 'erased')
      const fork = await forkAt(store, origin.id, at)
      assert.deepEqual((await fork.row()).owed, [handoff])
      assert.deepEqual(await store.verify({}), [])
    },
  },
]

export const forkPurges: readonly StoreCase[] = [
  {
    name: 'deleting a session that forks read needs an explicit choice [I40]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      const request = { sessionId: origin.id, operation: newOperation(), reason: 'asked' }
      const refused = expectKind(await store.deleteSession(request), 'forked')
      assert.deepEqual([refused.forks, (await origin.row()).state], [[fork.id], 'open'])
      await purgeWhole(store, fork.id)
      await purgeWhole(store, origin.id)
    },
  },
  {
    name: 'a deletion keeps the entries that a living fork reads until the last fork is deleted [I40]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      await fork.exchange('mine', 'yes')
      const deep = await forkAt(store, fork.id, 9)
      const context = await store.readContext({ sessionId: deep.id })
      await purgeWhole(store, origin.id, 'keep')
      await purgeWhole(store, fork.id, 'keep')
      assert.deepEqual((await store.readContext({ sessionId: deep.id }))?.entries, context?.entries)
      const bodies = async (id: SessionId) =>
        (await entriesOf(store, id)).filter(({ body }) => body !== null).length
      assert.deepEqual([await bodies(origin.id), await bodies(fork.id)], [6, 9])
      expectKind(await tryFork(store, origin.id, 2), 'gone')
      assert.deepEqual(await store.verify({}), [])
      await purgeWhole(store, deep.id)
      for (const { id } of [origin, fork, deep]) {
        assert.equal(await bodies(id), 0)
        assert.equal((await store.findSession(id))?.retained, 0)
      }
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a deletion that includes the forks deletes all of them, and nothing else [I40]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      const deep = await forkAt(store, fork.id, 7)
      const sibling = await forkAt(store, origin.id, 3)
      await purgeWhole(store, fork.id, 'purge')
      const states = async () =>
        Promise.all([origin, fork, deep, sibling].map(async (each) => (await each.row()).state))
      assert.deepEqual(await states(), ['open', 'gone', 'gone', 'open'])
      await purgeWhole(store, origin.id, 'purge')
      assert.deepEqual(await states(), ['gone', 'gone', 'gone', 'gone'])
      assert.deepEqual(await store.verify({}), [])
    },
  },
]

export const forkFiles: readonly StoreCase[] = [
  {
    name: 'the export of a fork is complete without its origin [I36]',
    run: async (bench) => {
      const { store } = bench
      const origin = await talkedThrice(store)
      const hash = await sendFile(origin)
      await origin.reply('seen', { ends: 'answered' })
      const fork = await forkAt(store, origin.id, 12)
      await fork.exchange('mine', 'yes')
      const waiting = await fork.admit(said('waiting'))
      const target = await bench.fresh()
      const lines = await linesOf(store.exportSession(fork.id))
      expectKind(await target.importSession(lines), 'imported')
      assert.deepEqual(await entriesOf(target, fork.id), await entriesOf(store, fork.id))
      assert.deepEqual(await target.verify({}), [])
      assert.equal((await target.findBlob({ sessionId: fork.id, hash }))?.uses, 1)
      const held = await StoreFixture.acquire(target, fork.id, await register(target))
      await held.deliver(waiting)
      await held.reply('yes', { ends: 'answered' })
      assert.deepEqual(await target.verify({}), [])
    },
  },
  {
    name: 'an erasure in an imported session reaches every imported copy of the entry [I38, I41]',
    run: async (bench) => {
      const { store } = bench
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      const target = await bench.fresh()
      for (const { id } of [origin, fork]) {
        const lines = await linesOf(store.exportSession(id))
        expectKind(await target.importSession(lines), 'imported')
      }
      const held = await StoreFixture.acquire(target, origin.id, await register(target))
      expectKind(await held.erase([entryNumber(4)]), 'erased')
      assert.ok(!(await everyWordOf(target, fork.id)).includes('second canary'))
      assert.deepEqual((await target.findSession(fork.id))?.owed, [4])
      const other = await StoreFixture.acquire(target, fork.id, await register(target))
      expectKind(await other.erase([one]), 'erased')
      assert.ok(!(await everyWordOf(target, origin.id)).includes('first canary'))
      assert.deepEqual(await target.verify({}), [])
    },
  },
  {
    name: 'an import does not restore text that was erased in this store [I41]',
    run: async (bench) => {
      const { store } = bench
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      const handoff = await fork.compact(5)
      const target = await bench.fresh()
      const lines = await linesOf(store.exportSession(origin.id))
      expectKind(await target.importSession(lines), 'imported')
      const held = await StoreFixture.acquire(target, origin.id, await register(target))
      expectKind(await held.erase([entryNumber(4)]), 'erased')
      const late = await linesOf(store.exportSession(fork.id))
      expectKind(await target.importSession(late), 'imported')
      const words = await everyWordOf(target, fork.id)
      assert.ok(!words.includes('second canary'))
      assert.ok(!words.includes('what happened'))
      assert.deepEqual((await target.findSession(fork.id))?.owed, [4, handoff])
      assert.deepEqual(await target.verify({}), [])
    },
  },
  {
    name: 'an import does not restore a file whose entries were all erased in this store [I19, I41]',
    run: async (bench) => {
      const { store } = bench
      const origin = await talkedThrice(store)
      const hash = await sendFile(origin)
      const looked = origin.tail.number
      await origin.reply('seen', { ends: 'answered' })
      const fork = await forkAt(store, origin.id, origin.tail.number)
      const target = await bench.fresh()
      const lines = await linesOf(store.exportSession(origin.id))
      expectKind(await target.importSession(lines), 'imported')
      const held = await StoreFixture.acquire(target, origin.id, await register(target))
      expectKind(await held.erase([looked]), 'erased')
      expectKind(
        await target.importSession(await linesOf(store.exportSession(fork.id))),
        'imported',
      )
      assert.equal(await target.findBlob({ sessionId: fork.id, hash }), undefined)
      assert.deepEqual(await target.verify({}), [])
    },
  },
]
