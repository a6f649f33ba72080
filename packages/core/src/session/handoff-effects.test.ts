import { describe, expect, it } from 'vitest'
import { SETTINGS } from '../../../../test/support/session-host.ts'
import type { Clock } from '../base/clock.ts'
import { type EntryNumber, mailNumber } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import type { Handoff } from '../message/handoff/handoff.ts'
import type { Store } from '../store/contract.ts'
import { StoreFixture, said } from '../store/contract-suite/bench.ts'
import { StoreBusyError, StoreClosedError } from '../store/errors.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { buildContext } from './context/build.ts'
import type { HandoffReply, HandoffRequest, HandoffWriter } from './handoff.ts'
import { type HandoffParts, replaceHandoff, writeHandoff } from './handoff-effects.ts'

const LIMITS = {
  ...{ hardTokens: 10_000, pinTokens: 100, handoffTokens: 200, inputTokens: 3_000 },
  ...{ stepTokens: 200, outputTokens: 200, laneMailMax: 50, sourceMailMax: 50 },
}
const HANDOFF: Handoff = {
  ...{ version: 1, by: 'model', covers: 2, kept: 0, compactions: 1, summary: 'The pier is 40 m.' },
  ...{ preserved: [], tasks: [], files: [], ledger: [] },
}

const BUSY = new StoreBusyError({ waitedMs: 5, problem: 'another process writes' })
const CLOSED = new StoreClosedError({ verb: 'readEntries' })

/** Timers that fire when the test says so. */
class Timers implements Clock {
  readonly waiting = new Map<() => void, number>()
  now = () => 0
  monotonic = () => 0
  after(delayMs: number, callback: () => void): () => void {
    this.waiting.set(callback, delayMs)
    return () => void this.waiting.delete(callback)
  }
  fire(): void {
    const due = [...this.waiting.keys()]
    this.waiting.clear()
    for (const callback of due) callback()
  }
}

/** Records its requests and gives the answers set by the test. */
class Writer implements HandoffWriter {
  readonly requests: HandoffRequest[] = []
  reply: HandoffReply = { kind: 'written', handoff: HANDOFF, tokens: 7 }
  async write(request: HandoffRequest): Promise<HandoffReply> {
    this.requests.push(request)
    return await Promise.resolve(this.reply)
  }
}

/** A session with a handoff in effect and a second compaction claimed. */
async function claimed() {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store, { limits: LIMITS })
  const exchange = async (text: string) => {
    await fixture.deliver(await fixture.admit({ message: said(text) } as JsonValue))
    await fixture.reply(`${text}!`, { ends: 'answered' })
  }
  for (const text of ['one', 'two', 'three']) await exchange(text)
  await fixture.compact(fixture.tail.number - 2)
  for (const text of ['four', 'five']) await exchange(text)
  const covers = (fixture.tail.number - 2) as EntryNumber
  const operation = await store.findOperation(await fixture.claim(covers))
  const session = await fixture.row()
  const source = await store.readContext({ sessionId: fixture.id })
  if (operation === undefined || source === null) throw new Error('the session is there')
  const context = buildContext(source, LIMITS, session.tail)
  const [model, digest, clock] = [new Writer(), new Writer(), new Timers()]
  const parts = (over: Partial<HandoffParts> = {}): HandoffParts => ({
    ...{ store, clock, writers: { model, digest }, settings: SETTINGS, handoffMsMax: 60_000 },
    ...over,
  })
  return { store, session, operation, context, model, digest, clock, parts }
}

type Claimed = Awaited<ReturnType<typeof claimed>>

function write(
  { session, operation, context }: Claimed,
  parts: HandoffParts,
  { by = operation.by, controller = new AbortController(), mayAct = (): boolean => true } = {},
) {
  const wanted = {
    ...{ kind: 'writeHandoff' as const, focus: 'the pier', context, limits: LIMITS },
    ...{ operation: { ...operation, by }, carries: [] },
  }
  return writeHandoff(parts, session, wanted, { controller, mayAct })
}

/** The store, whose transcript cannot be read so many times. */
function unreadable(store: Store, error: Error, times = Number.POSITIVE_INFINITY): Store {
  let left = times
  return new Proxy(store, {
    get(target, name: keyof Store) {
      if (name !== 'readEntries') return target[name]
      return (...args: Parameters<Store['readEntries']>) => {
        left -= 1
        return left < 0 ? target.readEntries(...args) : Promise.reject(error)
      }
    },
  })
}

describe('writeHandoff', () => {
  it('hands the writer the claimed operation with its source, and reports the handoff', async () => {
    const place = await claimed()
    const { operation, session, model, digest } = place
    expect(await write(place, place.parts(), { by: 'model' })).toEqual({
      ...{
        kind: 'handoff written',
        operation: operation.id,
        body: HANDOFF,
        tokens: 7,
        carries: [],
      },
    })
    expect(digest.requests).toEqual([])
    const [request] = model.requests
    expect(request).toMatchObject({
      ...{ agent: session.agent, focus: 'the pier', limits: LIMITS, settings: SETTINGS },
      operation: { id: operation.id },
    })
    expect([request?.cut, request?.open]).toEqual([expect.any(Number), expect.any(Array)])
    expect(request?.messages.length).toBeGreaterThan(request?.cut ?? Number.NaN)
  })

  it('writes a digest without asking the model', async () => {
    const place = await claimed()
    await write(place, place.parts(), { by: 'digest' })
    expect([place.digest.requests.length, place.model.requests.length]).toEqual([1, 0])
  })

  it("reports the writer's reason when it fails", async () => {
    const place = await claimed()
    place.model.reply = { kind: 'failed', reason: 'refused' }
    const failed = { kind: 'handoff failed', operation: place.operation.id, reason: 'refused' }
    expect(await write(place, place.parts(), { by: 'model' })).toEqual(failed)
  })

  it('aborts at the deadline, and leaves no timer set', async () => {
    const place = await claimed()
    const controller = new AbortController()
    const slow: HandoffWriter = {
      write(_request, signal) {
        expect([...place.clock.waiting.values()]).toEqual([60_000])
        place.clock.fire()
        return Promise.resolve({ kind: 'failed', reason: String(signal.reason) })
      },
    }
    const writers = { model: slow, digest: place.digest }
    const options = { by: 'model', controller } as const
    const ended = await write(place, place.parts({ writers }), options)
    expect(ended).toMatchObject({ kind: 'handoff failed', reason: 'deadline' })
    await write(place, place.parts(), { by: 'model' })
    expect(place.clock.waiting.size).toBe(0)
  })

  it('calls no writer once the lease is lost or the compaction is abandoned', async () => {
    const place = await claimed()
    const lost = await write(place, place.parts(), { mayAct: () => false })
    expect(lost).toEqual({ kind: 'lost' })
    const controller = new AbortController()
    controller.abort('closing')
    const { id } = place.operation
    const given = await write(place, place.parts(), { controller })
    expect(given).toEqual({ kind: 'handoff failed', operation: id, reason: 'closing' })
    expect([...place.model.requests, ...place.digest.requests]).toEqual([])
  })

  it('delays for a busy store, fails for a closed one, and passes on errors of its own', async () => {
    const place = await claimed()
    const { id } = place.operation
    // With a digest in effect the source is read from the transcript.
    const digested = { ...place, session: { ...place.session, by: 'digest' as const } }
    const tried = (error: Error) =>
      write(digested, place.parts({ store: unreadable(place.store, error) }))
    const busy = await tried(BUSY)
    expect(busy).toEqual({ kind: 'handoff delayed', operation: id })
    const closed = await tried(CLOSED)
    expect(closed).toEqual({ kind: 'handoff failed', operation: id, reason: 'store-closed' })
    await expect(tried(new TypeError('a bug'))).rejects.toThrow('a bug')
    expect(place.clock.waiting.size).toBe(0)
  })
})

describe('replaceHandoff', () => {
  const replace = (
    place: Claimed,
    parts = place.parts(),
    mayAct: () => boolean = () => true,
    mail = mailNumber(4),
  ) => {
    const entries = [place.session.covers]
    const wanted = { kind: 'replaceHandoff' as const, mail, entries, context: place.context }
    return replaceHandoff(parts, () => place.session, wanted, mayAct)
  }

  it('writes a digest for the erasure, and reports it with its base', async () => {
    const place = await claimed()
    const { session, digest, model } = place
    expect(await replace(place)).toEqual({
      ...{ kind: 'replacement written', mail: 4, base: session.base, owed: session.owed },
      replacement: { body: HANDOFF, tokens: 7 },
    })
    expect(model.requests).toEqual([])
    expect(digest.requests).toHaveLength(1)
    const { operation, ...request } = digest.requests[0] as HandoffRequest
    expect(operation).toEqual({
      ...{ id: expect.stringContaining('erasure'), sessionId: session.id, by: 'digest' },
      ...{ state: 'running', trigger: 'manual', reason: 'erasure', fence: session.fence },
      ...{ base: session.base, covers: session.covers, previous: session.effective },
      ...{ requestedBy: null, result: {}, startedAt: 0, endedAt: null },
    })
    expect(request).toEqual({
      ...{ agent: session.agent, focus: null, limits: session.limits, settings: SETTINGS },
      ...{ messages: expect.any(Array), cut: expect.any(Number), open: expect.any(Array) },
      entries: [[1], [2], [4], [5], [8], [11], [12], [14], [15]],
    })
  })

  it('reports that there is no replacement when the digest fails', async () => {
    const place = await claimed()
    place.digest.reply = { kind: 'failed', reason: 'too large' }
    expect(await replace(place)).toMatchObject({ kind: 'replacement written', replacement: null })
  })

  it('waits for a busy store and reads again', async () => {
    const place = await claimed()
    const store = unreadable(place.store, BUSY, 1)
    const waits: number[] = []
    const clock = new Timers()
    clock.after = (delayMs, callback) => {
      waits.push(delayMs)
      callback()
      return () => undefined
    }
    const ended = await replace(place, place.parts({ store, clock }))
    expect([ended.kind, waits]).toEqual(['replacement written', [SETTINGS.retryMs]])
  })

  it.each([CLOSED, new TypeError('a bug')])('passes on $name', async (error) => {
    const place = await claimed()
    const store = unreadable(place.store, error)
    await expect(replace(place, place.parts({ store }))).rejects.toBe(error)
  })

  it.each([0, 1])('ends without a digest when the lease is lost after %i looks', async (looks) => {
    const place = await claimed()
    let left = looks
    expect(await replace(place, place.parts(), () => left-- > 0)).toEqual({ kind: 'lost' })
    expect(place.digest.requests).toEqual([])
  })
})
