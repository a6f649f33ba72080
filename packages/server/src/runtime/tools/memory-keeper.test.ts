import { expect, it } from 'vitest'
import type { AdmitOutcome } from '#core/store/commits'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { MemoryKeeper } from './memory-keeper.ts'

it('reports why notes are not shown once per version of the notes and reason', async () => {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  const told: string[] = []
  const time = { ms: 0 }
  let isFull = true
  const keeper = new MemoryKeeper({
    store: {
      ...store,
      admit: async (request): Promise<AdmitOutcome> =>
        isFull ? { kind: 'full', which: 'lane', limit: 1 } : await store.admit(request),
    },
    clock: { now: () => 0, monotonic: () => time.ms, after: () => () => {} },
    countTokens: () => 1,
    keepsNotes: () => true,
    sharesNotes: () => false,
    onRefused: (_id, why) => told.push(why),
  })
  const refresh = async () => {
    time.ms += 60_000
    await keeper.refresh(fixture.id)
  }
  const note = (text: string) =>
    store.putNote({ agent: 'ada', scope: fixture.id, id: 'n', text, origin: null })
  const turnDown = async () => {
    const [mail] = await store.listMail({ sessionId: fixture.id, state: 'pending', limit: 1 })
    if (mail === undefined) throw new Error('nothing waits')
    const { lease } = fixture
    await store.settleControl({ lease, mail: [mail.number], refused: { why: 'no-room' } })
  }
  await note('tea')
  for (let count = 0; count < 3; count++) await refresh()
  expect(told).toEqual(['full'])
  isFull = false
  await refresh()
  await turnDown()
  for (let count = 0; count < 3; count++) await refresh()
  expect(told).toEqual(['full', 'no-room'])
  await note('coffee')
  await refresh()
  await turnDown()
  for (let count = 0; count < 3; count++) await refresh()
  expect(told).toEqual(['full', 'no-room', 'no-room'])
})
