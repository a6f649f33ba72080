import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { entryNumber, type SessionId, sessionId } from '../../../base/ids.ts'
import type { DeleteSession } from '../../commits.ts'
import type { OutcomeOf, Store } from '../../contract.ts'
import type { Fork } from '../../fork-commits.ts'
import type { Entry } from '../../tables/rows.ts'
import { expectKind, newOperation, register, replyTo, StoreFixture, said } from '../bench.ts'
import type { StoreCase } from '../case.ts'

const one = entryNumber(1)

export async function tryFork(
  store: Store,
  from: SessionId,
  at: number,
  fields: Partial<Fork> = {},
): Promise<OutcomeOf<'fork'>> {
  const id = sessionId(`f-${randomUUID()}`)
  const plain = { id, from, source: 'test', key: randomUUID(), operation: newOperation() }
  return await store.fork({ ...plain, at: entryNumber(at), ...fields })
}

/** A fork with its lease. */
export async function forkAt(store: Store, from: SessionId, at: number): Promise<StoreFixture> {
  const { session } = expectKind(await tryFork(store, from, at), 'forked')
  return await StoreFixture.acquire(store, session.id, await register(store))
}

export async function entriesOf(
  store: Store,
  id: SessionId,
  upto = 1_000,
): Promise<readonly Entry[]> {
  return await store.readEntries({ sessionId: id, from: one, to: entryNumber(upto) })
}

export async function everyWordOf(store: Store, id: SessionId): Promise<string> {
  return JSON.stringify([
    await entriesOf(store, id),
    await store.readContext({ sessionId: id }),
    await store.search({ sessionId: id, text: 'canary', limit: 10, neighbours: 2 }),
  ])
}

export async function purgeWhole(
  store: Store,
  id: SessionId,
  forks?: DeleteSession['forks'],
): Promise<void> {
  const request = { sessionId: id, operation: newOperation(), reason: 'asked for' }
  const { sessions } = expectKind(
    await store.deleteSession({ ...request, ...(forks && { forks }) }),
    'done',
  )
  const waiting = [...sessions].reverse()
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (let piece = 0; ; piece++) {
      assert.ok(piece < 200, 'the deletion did not end')
      const erased = expectKind(await store.eraseSome({ sessionId: next, limit: 3 }), 'erased')
      if (erased.left) continue
      if (erased.next !== undefined) waiting.push(erased.next)
      break
    }
  }
}

export async function linesOf(source: AsyncIterable<string>): Promise<string[]> {
  const lines: string[] = []
  for await (const line of source) lines.push(line)
  return lines
}

/** Delivers a message with a file, and returns the file's hash. */
export async function sendFile(to: StoreFixture): Promise<string> {
  const blob = { sessionId: to.id, mediaType: 'a/b', bytes: new Uint8Array([1, 2]) }
  const { hash } = expectKind(await to.store.stageBlob(blob), 'staged')
  await to.deliver(await to.admit(said('look'), { blobs: [hash] }))
  return hash
}

/** Three exchanges: entries 1 to 9. */
export async function talkedThrice(store: Store): Promise<StoreFixture> {
  const fixture = await StoreFixture.open(store)
  for (const word of ['first', 'second', 'third']) await fixture.exchange(`${word} canary`, 'noted')
  return fixture
}

export const forks: readonly StoreCase[] = [
  {
    name: 'a fork begins with the entries of its origin and continues separately [I36]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      assert.deepEqual(await entriesOf(store, fork.id, 6), await entriesOf(store, origin.id, 6))
      const [arrival] = await store.readEntries({
        sessionId: fork.id,
        from: entryNumber(7),
        to: entryNumber(7),
      })
      assert.equal(arrival?.kind, 'arrival')
      await fork.exchange('another', 'way')
      await origin.exchange('fourth', 'noted')
      const kinds = (await entriesOf(store, fork.id)).map(({ kind }) => kind)
      const exchange = ['input', 'assistant', 'turn']
      assert.deepEqual(kinds, [...exchange, ...exchange, 'arrival', ...exchange])
      assert.equal((await origin.row()).tail, 12)
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a fork begins with the context that its origin had at that entry, with pins and handoff [I36]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      await origin.pin('rule', 'be kind', 5)
      await origin.compact(3)
      await origin.exchange('later', 'yes')
      const at = origin.tail.number
      const before = await store.readContext({ sessionId: origin.id, upto: at })
      await origin.pin('rule', 'be quick', 5)
      await origin.compact(8)
      const fork = await forkAt(store, origin.id, at)
      const there = await store.readContext({ sessionId: fork.id, upto: at })
      assert.deepEqual(there?.entries, before?.entries)
      assert.deepEqual([there?.effective, there?.covers], [before?.effective, before?.covers])
      const row = await fork.row()
      assert.deepEqual([row.covers, Object.keys(row.pins)], [3, ['rule']])
      const [pin] = Object.values(row.pins)
      assert.ok((pin?.entry ?? 0) < at)
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a fork can be made at any entry, even before a compaction of its origin [I36]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      await origin.compact(5)
      for (const at of [1, 2, 3, 4, 9, 10]) {
        const fork = await forkAt(store, origin.id, at)
        const [mine, theirs] = await Promise.all([
          store.readContext({ sessionId: fork.id, upto: entryNumber(at) }),
          store.readContext({ sessionId: origin.id, upto: entryNumber(at) }),
        ])
        assert.deepEqual(mine?.entries, theirs?.entries)
        await fork.exchange('next', 'yes')
      }
      assert.deepEqual(await store.verify({}), [])
      expectKind(await tryFork(store, origin.id, 0), 'unknown-entry')
      expectKind(await tryFork(store, origin.id, 11), 'unknown-entry')
      expectKind(await tryFork(store, sessionId('nobody'), 1), 'unknown')
    },
  },
  {
    name: 'a fork has the limits that its origin had at that entry [I33, I36]',
    run: async ({ store }) => {
      const origin = await StoreFixture.open(store)
      await origin.exchange('a', 'b')
      const { limits } = await origin.row()
      const change = { ...origin.fenced(), body: {}, tokens: 1 }
      const wider = { ...limits, hardTokens: limits.hardTokens + 500 }
      const { tail } = expectKind(
        await store.changeSettings({ ...change, limits: wider }),
        'appended',
      )
      origin.tail = tail
      const early = await forkAt(store, origin.id, 2)
      const late = await forkAt(store, origin.id, tail.number)
      assert.equal((await early.row()).limits.hardTokens, limits.hardTokens)
      assert.equal((await late.row()).limits.hardTokens, wider.hardTokens)
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a fork of a fork reads the entries of both, and belongs to the session that keeps its last one [I36]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 6)
      await fork.exchange('fork canary', 'yes')
      const deep = await forkAt(store, fork.id, 9)
      await deep.exchange('deep canary', 'yes')
      const shallow = await forkAt(store, deep.id, 4)
      assert.deepEqual(
        [(await deep.row()).origin, (await shallow.row()).origin],
        [fork.id, origin.id],
      )
      assert.deepEqual(await entriesOf(store, deep.id, 6), await entriesOf(store, origin.id, 6))
      assert.deepEqual(await entriesOf(store, deep.id, 9), await entriesOf(store, fork.id, 9))
      assert.deepEqual(await entriesOf(store, shallow.id, 4), await entriesOf(store, deep.id, 4))
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a chain of forks of any length can be read and forked [I36]',
    run: async ({ store }) => {
      const origin = await StoreFixture.open(store)
      await origin.exchange('a', 'b')
      let last = origin.id
      for (let depth = 1; depth <= 20; depth++) {
        const { session } = expectKind(await tryFork(store, last, 3 + depth - 1), 'forked')
        last = session.id
      }
      const entries = await entriesOf(store, last)
      assert.deepEqual(
        entries.map(({ number }) => number),
        Array.from({ length: 23 }, (_, at) => at + 1),
      )
      expectKind(await tryFork(store, last, 2), 'forked')
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'one key makes one fork [I4]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const { session } = expectKind(await tryFork(store, origin.id, 3, { key: 'again' }), 'forked')
      const second = expectKind(await tryFork(store, origin.id, 3, { key: 'again' }), 'duplicate')
      assert.equal(second.sessionId, session.id)
      expectKind(await tryFork(store, origin.id, 4, { key: 'again' }), 'conflict')
      expectKind(await tryFork(store, origin.id, 3, { id: origin.id }), 'exists')
    },
  },
  {
    name: 'a fork copies no mail, reply or title, and begins between turns [I37]',
    run: async ({ store }) => {
      const origin = await StoreFixture.open(store)
      await origin.exchange('q', 'a', [replyTo('ana')])
      await store.setTitle({ sessionId: origin.id, title: 'Plans' })
      await origin.hear('unanswered')
      await origin.admit(said('waiting'))
      const fork = await forkAt(store, origin.id, 4)
      const row = await fork.row()
      assert.deepEqual(
        [row.mail, row.replies, row.title, row.turnState, row.turn],
        [0, 0, null, 'idle', 1],
      )
      assert.deepEqual(await store.listMail({ sessionId: fork.id, limit: 5 }), [])
      assert.deepEqual(await store.listReplies({ sessionId: fork.id, limit: 5 }), [])
      // A request that its origin has not answered is not an open request of the fork.
      await fork.hear('mine')
      await fork.reply('ok', { ends: 'answered' })
      await fork.compact(4)
      assert.equal((await fork.row()).covers, 4)
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a fork closes the calls that are open at its last entry as interrupted [I15, I37]',
    run: async ({ store }) => {
      const origin = await StoreFixture.open(store)
      await origin.hear('do both')
      await origin.reply('doing', { calls: ['a', 'b'] })
      const fork = await forkAt(store, origin.id, 2)
      await origin.results('a', 'b')
      const half = await forkAt(store, origin.id, 3)
      const leftIn = async ({ id }: StoreFixture) =>
        (await entriesOf(store, id)).flatMap((entry) =>
          entry.kind === 'result' ? [[entry.meta.call, entry.meta.outcome]] : [],
        )
      const left = 'interrupted'
      assert.deepEqual(await leftIn(fork), [
        ['a', left],
        ['b', left],
      ])
      assert.deepEqual(await leftIn(half), [
        ['a', 'ok'],
        ['b', left],
      ])
      assert.deepEqual((await fork.row()).openCalls, [])
      await fork.exchange('and now', 'yes')
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a fork that reverts a compaction of its prefix does not change its origin [I36]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const handoff = await origin.compact(6)
      const fork = await forkAt(store, origin.id, handoff)
      expectKind(await fork.revert(handoff), 'reverted')
      assert.deepEqual([(await fork.row()).covers, (await origin.row()).covers], [0, 6])
      await fork.exchange('go', 'on')
      await fork.compact(9)
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a search in a fork finds its prefix, and no later entry of its origin [I36]',
    run: async ({ store }) => {
      const origin = await talkedThrice(store)
      const fork = await forkAt(store, origin.id, 3)
      await fork.exchange('zebra in the fork', 'noted')
      const found = async (text: string, id = fork.id) => {
        const query = { sessionId: id, text, limit: 10, neighbours: 1 }
        const { hits } = await store.search(query)
        return hits.map((hit) => [hit.sessionId, hit.entry.number])
      }
      assert.deepEqual(await found('first'), [[fork.id, 1]])
      assert.deepEqual(await found('second'), [])
      assert.deepEqual(await found('zebra'), [[fork.id, 5]])
      assert.deepEqual(await found('zebra', origin.id), [])
      assert.deepEqual(await found('second', origin.id), [[origin.id, 4]])
      const both = { sessionId: [origin.id, fork.id], text: 'canary', limit: 10, neighbours: 0 }
      assert.equal((await store.search(both)).hits.length, 3)
      const early = { sessionId: fork.id, text: 'zebra', before: entryNumber(5), limit: 5 }
      assert.equal((await store.search({ ...early, neighbours: 0 })).hits.length, 0)
    },
  },
  {
    name: 'files of the prefix can be read from a fork [I36]',
    run: async ({ store }) => {
      const origin = await StoreFixture.open(store)
      const hash = await sendFile(origin)
      const fork = await forkAt(store, origin.id, 1)
      const found = await store.findBlob({ sessionId: fork.id, hash })
      assert.deepEqual([found?.sessionId, found?.bytes.length], [fork.id, 2])
      await purgeWhole(store, origin.id, 'keep')
      assert.ok(await store.findBlob({ sessionId: fork.id, hash }))
      await purgeWhole(store, fork.id)
      assert.equal(await store.findBlob({ sessionId: origin.id, hash }), undefined)
    },
  },
]
