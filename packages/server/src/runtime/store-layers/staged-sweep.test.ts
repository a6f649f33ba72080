import { expect, it } from 'vitest'
import { create } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { MemoryTables } from '#core/store/memory/tables'
import { stagedSweep } from './staged-sweep.ts'

const HOUR = 3_600_000

it('drops a file that no message used within a day, and keeps a younger one', async () => {
  let now = 0
  const planned: (() => void)[] = []
  const clock = {
    now: () => now,
    monotonic: () => now,
    after: (_delayMs: number, callback: () => void) => {
      planned.push(callback)
      return () => planned.splice(planned.indexOf(callback), 1)
    },
  }
  const store = openMemoryStore({ tables: new MemoryTables({ clock: () => now }) })
  const sessionId = await create(store)
  const stage = (byte: number) =>
    store.stageBlob({ sessionId, mediaType: 'a/b', bytes: new Uint8Array([byte]) })
  const told: unknown[] = []
  const tell = (facts: unknown) => told.push(facts)
  const logger = { debug: tell, info: tell, warn: tell, error: tell }
  const sweep = stagedSweep({ store, clock, logger })
  sweep.start()
  const old = await stage(1)
  now = 24 * HOUR
  const young = await stage(2)
  now = 25 * HOUR
  planned.shift()?.()
  await sweep.close()
  const hashes = [old, young].map((staged) => ('hash' in staged ? staged.hash : ''))
  const found = await Promise.all(hashes.map((hash) => store.findBlob({ sessionId, hash })))
  expect(found.map((blob) => blob !== undefined)).toEqual([false, true])
  expect(told).toEqual([{ count: 1 }])
  expect(planned).toEqual([])
})
