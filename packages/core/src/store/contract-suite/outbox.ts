import assert from 'node:assert/strict'
import { entryNumber, type RunnerId } from '../../base/ids.ts'
import type { ClaimReply, SettleReply } from '../commits.ts'
import type { Store } from '../contract.ts'
import type { ReplyKey } from '../retention-commits.ts'
import { expectKind, newOperation, register, replyTo, StoreFixture } from './bench.ts'
import type { StoreCase } from './case.ts'

async function claim(store: Store, claimant: RunnerId, fields: Partial<ClaimReply> = {}) {
  const outcome = await store.claimReply({ edge: 'telegram', claimant, at: 0, ...fields })
  return expectKind(outcome, 'claimed').reply
}

const sent = { kind: 'sent', receipt: 'r' } as const
const failed = (retryAt: number, attemptsMax = 5) =>
  ({ kind: 'failed', retryAt, attemptsMax }) as const

const LATER = Number.MAX_SAFE_INTEGER

async function settle(store: Store, result: SettleReply['result']): Promise<void> {
  const claimant = await register(store)
  const { sessionId, number, attempt } = await claim(store, claimant)
  const request = { sessionId, number, attempt, claimant, result }
  expectKind(await store.settleReply(request), 'settled')
}

async function dropSent(store: Store, before = LATER): Promise<number> {
  const { count, upTo } = await store.dropSent({ before, limit: 100 })
  assert.equal(upTo, null)
  return count
}

async function numbersOf({ store, id }: StoreFixture): Promise<readonly number[]> {
  const replies = await store.listReplies({ sessionId: id, limit: 100 })
  return replies.map(({ number }) => number)
}

async function answered(store: Store, ...addresses: string[]): Promise<StoreFixture> {
  const fixture = await StoreFixture.open(store)
  for (const address of addresses) await fixture.exchange('q', 'a', [replyTo(address)])
  return fixture
}

export const outbox: readonly StoreCase[] = [
  {
    name: 'a reply is claimed, sent and settled once [I31]',
    run: async ({ store }) => {
      const fixture = await answered(store, 'ana')
      const claimant = await register(store)
      const reply = await claim(store, claimant)
      assert.deepEqual([reply.number, reply.attempt, reply.address], [1, 1, 'ana'])
      const { sessionId, number, attempt } = reply
      const request = { sessionId, number, attempt, claimant, result: sent }
      assert.equal(expectKind(await store.settleReply(request), 'settled').state, 'sent')
      expectKind(await store.settleReply(request), 'refused')
      expectKind(await store.claimReply({ edge: 'telegram', claimant, at: 0 }), 'none')
      const [row] = await store.listReplies({ sessionId: fixture.id, limit: 5 })
      assert.deepEqual([row?.state, row?.receipt], ['sent', 'r'])
    },
  },
  {
    name: 'a claimed reply is not claimed by another while its claimant lives [I31]',
    run: async ({ store }) => {
      await answered(store, 'ana')
      await claim(store, await register(store))
      const claimant = await register(store)
      expectKind(await store.claimReply({ edge: 'telegram', claimant, at: 0 }), 'none')
    },
  },
  {
    name: 'replies to one address are sent in order: each waits for the previous one [I31]',
    run: async ({ store }) => {
      await answered(store, 'ana', 'ana')
      const claimant = await register(store)
      const first = await claim(store, claimant)
      expectKind(await store.claimReply({ edge: 'telegram', claimant, at: 0 }), 'none')
      const { sessionId, number, attempt } = first
      await store.settleReply({ sessionId, number, attempt, claimant, result: sent })
      assert.equal((await claim(store, claimant)).number, 2)
    },
  },
  {
    name: 'a claimed reply does not hold back replies to another address [I31]',
    run: async ({ store }) => {
      await answered(store, 'ana', 'bea')
      const claimant = await register(store)
      await claim(store, claimant)
      assert.equal((await claim(store, claimant)).address, 'bea')
    },
  },
  {
    name: 'a reply can be claimed only for the edge it names',
    run: async ({ store }) => {
      await answered(store, 'ana')
      const claimant = await register(store)
      expectKind(await store.claimReply({ edge: 'discord', claimant, at: 0 }), 'none')
    },
  },
  {
    name: 'another sender can claim the reply of a dismissed one, which can no longer settle it [I31]',
    run: async ({ store, dismiss }) => {
      await answered(store, 'ana')
      const dead = await register(store)
      const first = await claim(store, dead)
      await dismiss(dead)
      const claimant = await register(store)
      const second = await claim(store, claimant)
      assert.deepEqual([second.attempt, second.key], [2, first.key])
      const { sessionId, number } = first
      const late = { sessionId, number, attempt: 1, claimant: dead, result: sent }
      expectKind(await store.settleReply(late), 'refused')
      const good = { sessionId, number, attempt: 2, claimant, result: sent }
      expectKind(await store.settleReply(good), 'settled')
    },
  },
  {
    name: 'a failed reply waits until it is due and keeps its place [I31]',
    run: async ({ store }) => {
      await answered(store, 'ana', 'ana')
      const claimant = await register(store)
      const { sessionId, number, attempt } = await claim(store, claimant)
      const request = { sessionId, number, attempt, claimant, result: failed(500) }
      assert.equal(expectKind(await store.settleReply(request), 'settled').state, 'waiting')
      expectKind(await store.claimReply({ edge: 'telegram', claimant, at: 499 }), 'none')
      assert.equal((await claim(store, claimant, { at: 500 })).number, 1)
    },
  },
  {
    name: 'after its last attempt a reply is listed as dead and no longer blocks the next [I31]',
    run: async ({ store }) => {
      const fixture = await answered(store, 'ana', 'ana')
      const claimant = await register(store)
      const { sessionId, number, attempt } = await claim(store, claimant)
      const request = { sessionId, number, attempt, claimant, result: failed(0, 1) }
      assert.equal(expectKind(await store.settleReply(request), 'settled').state, 'dead')
      const dead = await store.listReplies({ sessionId: fixture.id, state: 'dead', limit: 5 })
      assert.deepEqual(
        dead.map((row) => row.number),
        [1],
      )
      assert.equal((await claim(store, claimant)).number, 2)
    },
  },
  {
    name: 'a reply added while the previous one is being settled is claimed next [I31]',
    run: async ({ store }) => {
      const fixture = await answered(store, 'ana')
      const claimant = await register(store)
      for (let round = 0; round < 5; round++) {
        const { sessionId, number, attempt } = await claim(store, claimant)
        assert.equal(number, round + 1)
        await Promise.all([
          store.settleReply({ sessionId, number, attempt, claimant, result: sent }),
          fixture.exchange('q', 'a', [replyTo('ana')]),
        ])
      }
    },
  },
  {
    name: 'a reply that is erased while it waits does not block the next of its address [I31]',
    run: async ({ store }) => {
      const fixture = await answered(store, 'ana', 'ana')
      const [first] = await store.listReplies({ sessionId: fixture.id, limit: 1 })
      await fixture.erase([first?.entry ?? entryNumber(0)])
      assert.equal((await claim(store, await register(store))).number, 2)
    },
  },
  {
    name: 'a reply that is erased while it is being sent does not block the next of its address [I31]',
    run: async ({ store }) => {
      const fixture = await answered(store, 'ana', 'ana')
      const claimant = await register(store)
      const { sessionId, number, attempt, entry } = await claim(store, claimant)
      await fixture.erase([entry])
      const settled = await store.settleReply({
        sessionId,
        number,
        attempt,
        claimant,
        result: sent,
      })
      expectKind(settled, 'refused')
      assert.equal((await claim(store, claimant)).number, 2)
    },
  },
  {
    name: 'a claimant that lost its registration claims nothing',
    run: async ({ store, dismiss }) => {
      await answered(store, 'ana')
      const claimant = await register(store)
      await dismiss(claimant)
      expectKind(await store.claimReply({ edge: 'telegram', claimant, at: 0 }), 'none')
    },
  },
  {
    name: 'a sent reply is removed once it is old, and its answer stays in the transcript',
    run: async ({ store }) => {
      const fixture = await answered(store, 'ana', 'ana', 'ana')
      for (let number = 1; number <= 3; number++) await settle(store, sent)
      assert.equal(await dropSent(store, 0), 0)
      assert.deepEqual(await numbersOf(fixture), [1, 2, 3])
      assert.equal(await dropSent(store), 2)
      assert.deepEqual(await numbersOf(fixture), [3])
      assert.equal((await fixture.row()).replies, 3)
      const [first] = await store.readEntries({
        ...{ sessionId: fixture.id, from: entryNumber(1), to: entryNumber(99) },
      })
      assert.notEqual(first?.body, null)
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'dropping old replies keeps the last of each session and those waiting, claimed or dead [I31]',
    run: async ({ store }) => {
      const one = await answered(store, 'ana')
      await settle(store, sent)
      const other = await answered(store, 'bea', 'bea', 'bea', 'bea')
      await settle(store, sent)
      await settle(store, failed(0, 1))
      const claimant = await register(store)
      await claim(store, claimant)
      assert.equal(await dropSent(store), 1)
      assert.deepEqual([await numbersOf(one), await numbersOf(other)], [[1], [2, 3, 4]])
    },
  },
  {
    name: 'replies of many sessions are removed in pieces, and each is visited once',
    run: async ({ store }) => {
      const fixtures = []
      for (const address of ['ana', 'bea', 'cai']) {
        fixtures.push(await answered(store, address, address))
        await settle(store, sent)
        await settle(store, sent)
      }
      const counts: number[] = []
      for (let after: ReplyKey | null | undefined; after !== null; ) {
        const from = after === undefined ? {} : { after }
        const outcome = await store.dropSent({ before: LATER, limit: 2, ...from })
        counts.push(outcome.count)
        after = outcome.upTo
      }
      assert.deepEqual(counts, [1, 1, 1, 0])
      assert.deepEqual(await Promise.all(fixtures.map(numbersOf)), [[2], [2], [2]])
    },
  },
  {
    name: 'a session whose old replies were removed answers, is erased and is exported as before',
    run: async ({ store }) => {
      const fixture = await answered(store, 'ana', 'ana')
      const [first] = await store.listReplies({ sessionId: fixture.id, limit: 1 })
      await settle(store, sent)
      await settle(store, sent)
      assert.equal(await dropSent(store), 1)
      await fixture.exchange('q', 'a', [replyTo('ana')])
      const claimant = await register(store)
      assert.equal((await claim(store, claimant)).number, 3)
      await fixture.erase([first?.entry ?? entryNumber(0)])
      assert.deepEqual(await numbersOf(fixture), [2, 3])
      assert.deepEqual(await store.verify({}), [])
      let lines = 0
      for await (const _line of store.exportSession(fixture.id)) lines += 1
      assert.ok(lines > 0)
    },
  },
  {
    name: 'a runner cannot settle a reply that another one claimed',
    run: async ({ store }) => {
      await answered(store, 'ana')
      const claimant = await register(store)
      const other = await register(store)
      const { sessionId, number, attempt } = await claim(store, claimant)
      const request = { sessionId, number, attempt, claimant: other, result: sent }
      expectKind(await store.settleReply(request), 'refused')
    },
  },
  {
    name: 'deleting a session marks its replies as dead, both waiting and claimed [I31]',
    run: async ({ store }) => {
      const { id } = await answered(store, 'ana', 'ben')
      await claim(store, await register(store))
      await store.deleteSession({ sessionId: id, operation: newOperation(), reason: 'asked' })
      while (expectKind(await store.eraseSome({ sessionId: id, limit: 1 }), 'erased').left) {}
      const replies = await store.listReplies({ sessionId: id, limit: 10 })
      assert.deepEqual(
        replies.map(({ state, body, claimant }) => ({ state, body, claimant })),
        [1, 2].map(() => ({ state: 'dead', body: null, claimant: null })),
      )
    },
  },
]
