import { describe, expect, it } from 'vitest'
import { Timeline } from '../../test/simulation/timeline.ts'
import { StoreBusyError, StoreClosedError } from '../store/errors.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { create } from '../testing/store/desk.ts'
import { EventHub } from './event-hub.ts'

/** A hub over a store that fails as often as it is told to, on virtual time. */
function open() {
  const timeline = new Timeline()
  const store = openMemoryStore()
  const failing = { reads: 0, error: new StoreBusyError({ waitedMs: 0, problem: 'test' }) as Error }
  const faltering = <Value>(read: () => Promise<Value>) => {
    if (failing.reads === 0) return read()
    failing.reads--
    return Promise.reject(failing.error)
  }
  const told: string[] = []
  const log = (_: object, text: string) => told.push(text)
  const hub = new EventHub({
    store: {
      watch: store.watch,
      readStore: () => faltering(() => store.readStore()),
      readAudit: (query) => faltering(() => store.readAudit(query)),
    },
    clock: {
      now: () => 0,
      monotonic: () => timeline.now,
      after: (delayMs, callback) => timeline.plan(null, delayMs, callback),
    },
    logger: { debug: log, info: log, warn: log, error: log },
  })
  const pass = () => timeline.run(timeline.now + 60_000, () => false)
  return { store, hub, failing, told, pass }
}

describe('whoever listens', () => {
  it('hears everything once and in order, however often the store is busy meanwhile', async () => {
    for (const reads of [1, 2, 7]) {
      const { store, hub, failing, told, pass } = open()
      await create(store)
      const stop = new AbortController()
      const heard: number[] = []
      const listening = (async () => {
        for await (const event of hub.events({ after: 0 }, stop.signal)) {
          if (event.type === 'stored') heard.push(event.cursor)
        }
      })()
      failing.reads = reads
      await pass()
      for (let n = 0; n < 3; n++) {
        failing.reads = reads
        await create(store)
        await pass()
      }
      stop.abort()
      await listening
      const rows = await store.readAudit({ after: 0, limit: 100 })
      expect(heard).toEqual(rows.map(({ cursor }) => cursor))
      // Told once for each time it went away, however long.
      expect(told.filter((text) => text === 'events cannot be read').length).toBeLessThanOrEqual(4)
      expect(told.at(-1)).toBe('events can be read again')
    }
  })

  it('is told of what asking again does not mend', async () => {
    const { hub, failing } = open()
    failing.error = new StoreClosedError({ verb: 'readStore' })
    failing.reads = 1
    const events = hub.events({}, new AbortController().signal)
    await expect(events.next()).rejects.toThrow(StoreClosedError)
  })

  it('ends at once when it wants no more, also while the store is busy', async () => {
    const { hub, failing } = open()
    failing.reads = Number.POSITIVE_INFINITY
    const stop = new AbortController()
    const next = hub.events({}, stop.signal).next()
    stop.abort()
    expect((await next).done).toBe(true)
  })
})
