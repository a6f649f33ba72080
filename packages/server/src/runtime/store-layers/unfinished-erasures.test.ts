import { describe, expect, it } from 'vitest'
import { entryNumber, type SessionId, sessionId } from '#core/base/ids'
import { SILENT } from '#core/base/logger'
import { NOTES_PIN } from '#core/message/handoff/pinned'
import type { Store } from '#core/store/contract'
import { newOperation, StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { FakeClock } from '../../../../../test/model/fake-clock.ts'
import { open } from '../../../../../test/support/runtime-place.ts'
import { until } from '../../../../../test/support/until.ts'
import { memoryBlock } from '../../tools/memory/block.ts'
import { unfinishedErasures } from './unfinished-erasures.ts'

const MINUTES = 60_000
const countTokens = () => 1

/** The state left by a process that was killed after it had removed one piece. */
async function leaveHalfway(store: Store, name: string): Promise<SessionId> {
  const fixture = await StoreFixture.open(store, { id: sessionId(name) })
  for (let n = 0; n < 6; n++) await fixture.exchange(`question ${n}`, `answer ${n}`)
  await store.deleteSession({ sessionId: fixture.id, operation: newOperation(), reason: 'asked' })
  await store.eraseSome({ sessionId: fixture.id, limit: 2 })
  return fixture.id
}

async function stateOf(store: Store, id: SessionId): Promise<string | undefined> {
  return (await store.findSession(id))?.state
}

const bodiesOf = async (store: Store, id: SessionId) =>
  (await store.readEntries({ sessionId: id, from: 1, to: 99 } as never)).flatMap(({ body }) =>
    body === null ? [] : [body],
  )

describe('an unfinished removal', () => {
  it('is finished by a runtime that starts, and not by one that only reads', async () => {
    const store = openMemoryStore()
    const id = await leaveHalfway(store, 'left')
    const { runtime } = await open({ store: { ...store, close: async () => {} }, runs: false })
    await runtime.close()
    expect(await stateOf(store, id)).toBe('erasing')
    expect((await bodiesOf(store, id)).length).toBeGreaterThan(0)
    await open({ store })
    await until(async () => (await stateOf(store, id)) === 'gone')
    expect(await bodiesOf(store, id)).toEqual([])
  })

  it('is found again by a process that has run for a while', async () => {
    const [store, clock] = [openMemoryStore(), new FakeClock()]
    const rounds = unfinishedErasures({ store, countTokens, clock, logger: SILENT })
    rounds.start({ firstMs: 0 })
    await clock.pass(MINUTES)
    const id = await leaveHalfway(store, 'later')
    await clock.pass(30 * MINUTES)
    expect(await stateOf(store, id)).toBe('gone')
    await rounds.close()
    expect(clock.timers).toBe(0)
  })

  it('erases the notes made from it, even if the process died before erasing any', async () => {
    const [store, clock] = [openMemoryStore(), new FakeClock()]
    const [gone, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
    const origin = { sessionId: gone.id, number: entryNumber(1) }
    const noted = memoryBlock([{ agent: 'ada', id: 'n1', text: 'QUARTZ', origin }])
    await other.pin(NOTES_PIN, noted ?? '', 10)
    const operation = newOperation()
    await store.deleteSession({ sessionId: gone.id, operation, reason: 'asked' })
    const rounds = unfinishedErasures({ store, countTokens, clock, logger: SILENT })
    rounds.start({ firstMs: 0 })
    await clock.pass(1)
    await rounds.close()
    expect(await stateOf(store, gone.id)).toBe('gone')
    const asked = await store.listMail({ sessionId: other.id, lane: 'control', limit: 9 })
    expect(asked.map(({ control }) => control)).toEqual(['pin', 'erase'])
  })

  it('can be finished by several processes at once', async () => {
    const [store, clock] = [openMemoryStore(), new FakeClock()]
    const id = await leaveHalfway(store, 'shared')
    const all = [1, 2, 3].map(() =>
      unfinishedErasures({ store, countTokens, clock, logger: SILENT }),
    )
    for (const rounds of all) rounds.start({ firstMs: 0 })
    await clock.pass(1)
    for (const rounds of all) await rounds.close()
    expect(await stateOf(store, id)).toBe('gone')
    const told = await store.readAudit({ sessionId: id, after: 0, limit: 999 })
    expect(told.filter(({ kind }) => kind === 'session deleted')).toHaveLength(2)
    expect(await store.verify({})).toEqual([])
  })

  it('is not blocked by another that cannot be finished, and stops soon after its signal', async () => {
    const [inner, clock] = [openMemoryStore(), new FakeClock()]
    const ids = [await leaveHalfway(inner, 'a'), await leaveHalfway(inner, 'b')]
    let pieces = 0
    const store: Store = {
      ...inner,
      async eraseSome(request) {
        if (request.sessionId !== 'a') return await inner.eraseSome(request)
        if (++pieces === 1) throw new Error('busy')
        if (pieces === 2) closed = rounds.close()
        return await inner.eraseSome({ ...request, limit: 1 })
      },
    }
    const told: unknown[] = []
    const tell = (facts: { sessionId?: unknown }, text: string) =>
      told.push([facts.sessionId, text])
    const logger = { debug: tell, info: tell, warn: tell, error: tell }
    const rounds = unfinishedErasures({ store, countTokens, clock, logger } as never)
    let closed: Promise<void> | undefined
    rounds.start({ firstMs: 0 })
    await clock.pass(1)
    expect(told).toEqual([
      ['a', 'erasure not finished'],
      ['b', 'erasure finished'],
    ])
    await clock.pass(30 * MINUTES)
    await closed
    expect(pieces).toBe(2)
    expect(await stateOf(inner, ids[0] as SessionId)).toBe('erasing')
    expect(clock.timers).toBe(0)
  })
})
