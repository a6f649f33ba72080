import { describe, expect, it } from 'vitest'
import type { Clock } from '#core/base/clock'
import type { ReplyOutcome } from '#core/store/commits'
import type { Store } from '#core/store/contract'
import { StoreFixture, said } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { LoopReplies, SessionLostError } from './replies.ts'

const never = () => new AbortController().signal
/** Whoever waits here waits no time at all. */
const clock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  after: (_delayMs, callback) => {
    const timer = setImmediate(callback)
    return () => clearImmediate(timer)
  },
}

async function open() {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  await fixture.hear('Does it rain?')
  const replies = new LoopReplies(store, clock)
  const request = async (calls: readonly string[] = []) => ({
    ...fixture.fenced(),
    turn: (await fixture.row()).turn,
    step: {
      ...{ upto: fixture.tail.number, renderer: 'r1', calls, tokens: 1 },
      body: said('Yes.'),
    },
  })
  return { store, fixture, replies, request }
}

/** What the store says of a commit is this, whatever it did. */
const answering = (store: Store, outcome: ReplyOutcome, isDone: boolean): Store => ({
  ...store,
  commitReply: async (request) => {
    if (isDone) await store.commitReply(request)
    return outcome
  },
})

describe('an answer that waits to be durable', () => {
  it.each([{ kind: 'turn-over', turn: 1 }, { kind: 'calls-open' }] as const)(
    'is lost after one look when no commit of it can be taken: $kind',
    async (outcome) => {
      for (const calls of [[], ['c1']]) {
        const { store, fixture, replies, request } = await open()
        const durable = replies.whenDurable(fixture.id, calls.length, never())
        const lost = expect(durable).rejects.toThrow(SessionLostError)
        await replies.watched(answering(store, outcome, false)).commitReply(await request(calls))
        await lost
        await replies.close()
      }
    },
  )

  it('is durable when that look finds it, and its calls are waited for', async () => {
    const { store, fixture, replies, request } = await open()
    const outcome = { kind: 'turn-over', turn: 1 } as const
    const durable = replies.whenDurable(fixture.id, 0, never())
    await replies.watched(answering(store, outcome, true)).commitReply(await request())
    expect(await durable).toEqual([])
    const other = await open()
    const open_ = { kind: 'calls-open' } as const
    const called = other.replies.whenDurable(other.fixture.id, 1, never())
    const watched = other.replies.watched(answering(other.store, open_, true))
    await watched.commitReply(await other.request(['c1']))
    for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve))
    const call = { id: 'c1', name: 'rain', input: {}, key: 'k', signal: never(), done() {} }
    expect(other.replies.offer(other.fixture.id, call)).toBe(true)
    expect(await called).toEqual([call])
  })

  it('is lost when its session begins another, which is settled by itself', async () => {
    const { store, fixture, replies, request } = await open()
    const older = replies.whenDurable(fixture.id, 0, never())
    const lost = expect(older).rejects.toThrow(SessionLostError)
    const newer = replies.whenDurable(fixture.id, 0, never())
    await lost
    await replies.watched(store).commitReply(await request())
    expect(await newer).toEqual([])
  })

  it('is not said to be gone when its commit was on its way', async () => {
    const { fixture, replies } = await open()
    const stop = new AbortController()
    const durable = replies.whenDurable(fixture.id, 0, stop.signal)
    const lost = expect(durable).rejects.toThrow(
      'whether the answer was kept, the transcript tells',
    )
    stop.abort()
    await lost
  })
})
