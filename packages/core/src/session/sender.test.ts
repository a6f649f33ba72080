import { describe, expect, it } from 'vitest'
import { Timeline } from '../../../../test/simulation/timeline.ts'
import { replyTo, StoreFixture } from '../store/contract-suite/bench.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { type Edge, Sender } from './sender.ts'

/** A session with replies to send, and a sender on virtual time. */
async function open(send: Edge['send'], addresses: readonly string[] = ['room']) {
  const timeline = new Timeline()
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  await fixture.exchange(
    'Hello?',
    'Yes.',
    addresses.map((address) => replyTo(address)),
  )
  const broken = { claims: 0 }
  const sender = new Sender({
    store: {
      ...store,
      claimReply: (request) => {
        if (broken.claims === 0) return store.claimReply(request)
        broken.claims--
        throw new TypeError('a bug of ours')
      },
    },
    clock: {
      now: () => timeline.now,
      monotonic: () => timeline.now,
      after: (delayMs, callback) => timeline.plan(null, delayMs, callback),
    },
    edges: [{ name: 'telegram', send }],
    retryMs: 100,
    attemptsMax: 3,
  })
  const run = () => sender.run(fixture.lease.runner, () => true)
  const states = async () => (await store.listReplies({ limit: 99 })).map(({ state }) => state)
  const pass = (ms: number) => timeline.run(timeline.now + ms, () => false)
  return { sender, run, broken, states, pass, timeline }
}

describe('the sender', () => {
  it('sends to eight addresses side by side, and in order to each of them [I31]', async () => {
    const rooms = Array.from({ length: 20 }, (_, index) => `room ${index % 10}`)
    const [under, order] = [new Set<string>(), new Map<string, number[]>()]
    let most = 0
    let later = (_ms: number): Promise<void> => Promise.resolve()
    const place = await open(async ({ address, number }) => {
      expect(under.has(address)).toBe(false)
      under.add(address)
      most = Math.max(most, under.size)
      await later(150)
      under.delete(address)
      order.set(address, [...(order.get(address) ?? []), number])
      return { kind: 'sent', receipt: '' }
    }, rooms)
    later = (ms) => new Promise((resolve) => place.timeline.plan(null, ms, resolve))
    const running = place.run()
    await place.pass(10_000)
    await running
    expect(most).toBe(8)
    expect([...order.values()].every(([one = 0, two = 0]) => two === one + 10)).toBe(true)
    expect(new Set(await place.states())).toEqual(new Set(['sent']))
  })

  it('passes a bug on to its caller, and still sends in the next round', async () => {
    const { run, broken, states } = await open(async () => ({ kind: 'sent', receipt: '' }))
    broken.claims = 1
    await expect(run()).rejects.toThrow('a bug of ours')
    expect(await states()).toEqual(['waiting'])
    await run()
    expect(await states()).toEqual(['sent'])
  })

  it('settles the replies in progress before it closes, and starts no other', async () => {
    const sending = Promise.withResolvers<void>()
    let count = 0
    const { sender, run, states } = await open(async () => {
      count++
      await sending.promise
      return { kind: 'sent', receipt: '' }
    })
    const running = run()
    await Promise.resolve()
    const closing = sender.close()
    sending.resolve()
    await closing
    expect(await states()).toEqual(['sent'])
    await running
    await run()
    expect(count).toBe(1)
  })

  it('waits for an edge that hangs, but not forever', async () => {
    const { sender, run, states, pass } = await open(() => new Promise(() => {}))
    void run()
    let isClosed = false
    const closing = sender.close().then(() => {
      isClosed = true
    })
    await pass(1_000)
    expect(isClosed).toBe(false)
    await pass(10_000)
    await closing
    expect(await states()).toEqual(['waiting'])
  })
})
