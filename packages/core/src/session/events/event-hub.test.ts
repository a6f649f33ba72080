import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Timeline } from '../../../../../test/simulation/timeline.ts'
import { type SessionId, sessionId } from '../../base/ids.ts'
import { create } from '../../store/contract-suite/bench.ts'
import { StoreBusyError, StoreClosedError } from '../../store/errors.ts'
import { openMemoryStore } from '../../store/memory/open.ts'
import { EventHub } from './event-hub.ts'
import type { CurrentNotice, RuntimeEvent } from './runtime-event.ts'

const pass = async (turns: number) => {
  for (let n = 0; n < turns; n++) await null
}

/** A hub in virtual time, over a store that fails and delays on request. */
function open(readTurns = 0) {
  const timeline = new Timeline()
  const store = openMemoryStore()
  const failing = { reads: 0, error: new StoreBusyError({ waitedMs: 0, problem: 'test' }) as Error }
  const faltering = async <Value>(read: () => Promise<Value>) => {
    await pass(readTurns)
    if (failing.reads === 0) return await read()
    failing.reads--
    throw failing.error
  }
  const waits: CurrentNotice[] = []
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
    readWaitNotices: async (only) => {
      const found = waits.filter(({ sessionId }) => (only ?? sessionId) === sessionId)
      // Sessions are read one by one: news may be quicker.
      await pass(3 * readTurns)
      return found
    },
  })
  const passTime = () => timeline.run(timeline.now + 60_000, () => false)
  return { store, hub, waits, failing, told, passTime }
}

describe('a listener', () => {
  it('receives every event once and in order, however often the store is busy meanwhile', async () => {
    for (const reads of [1, 2, 7]) {
      const { store, hub, failing, told, passTime } = open()
      await create(store)
      const stop = new AbortController()
      const heard: number[] = []
      const listening = (async () => {
        for await (const event of hub.events({ after: 0 }, stop.signal)) {
          if (event.type === 'stored') heard.push(event.cursor)
        }
      })()
      failing.reads = reads
      await passTime()
      for (let n = 0; n < 3; n++) {
        failing.reads = reads
        await create(store)
        await passTime()
      }
      stop.abort()
      await listening
      const rows = await store.readAudit({ after: 0, limit: 100 })
      expect(heard).toEqual(rows.map(({ cursor }) => cursor))
      // Logged once for each outage, however long.
      expect(told.filter((text) => text === 'events cannot be read').length).toBeLessThanOrEqual(4)
      expect(told.at(-1)).toBe('events can be read again')
    }
  })

  it('receives an error of the store that a retry cannot mend', async () => {
    const { hub, failing } = open()
    failing.error = new StoreClosedError({ verb: 'readStore' })
    failing.reads = 1
    const events = hub.events({}, new AbortController().signal)
    await expect(events.next()).rejects.toThrow(StoreClosedError)
  })

  it('ends at once when it is aborted, even while the store is busy', async () => {
    const { hub, failing } = open()
    failing.reads = Number.POSITIVE_INFINITY
    const stop = new AbortController()
    const next = hub.events({}, stop.signal).next()
    stop.abort()
    expect((await next).done).toBe(true)
  })
})

describe('a listener that reads the state itself', () => {
  it('is asked to read at the start and after a failure, and receives only events of its session', async () => {
    const { store, hub, failing, passTime } = open()
    await create(store, { id: one })
    const stop = new AbortController()
    const heard: unknown[] = []
    const listening = (async () => {
      for await (const event of hub.news(one, stop.signal)) heard.push(event?.facts['what'] ?? null)
    })()
    await passTime()
    await create(store, { id: sessionId('other') })
    await store.setTitle({ sessionId: one, title: 'Plans' })
    await passTime()
    expect(heard).toEqual([null, 'title'])
    failing.reads = 1
    await store.setTitle({ sessionId: one, title: 'More plans' })
    await passTime()
    expect(heard.slice(2)).toContain(null)
    stop.abort()
    await listening
  })

  it('causes no read of the store while another one listens', async () => {
    const { hub, failing, passTime } = open()
    const stop = new AbortController()
    const others = hub.news(sessionId('other'), stop.signal)
    await others.next()
    failing.reads = Number.POSITIVE_INFINITY
    expect((await hub.news(one, stop.signal).next()).value).toBe(null)
    stop.abort()
    await others.return(null)
    await passTime()
  })
})

const one = sessionId('one')
const ids = [one, sessionId('other')]

type Act =
  | { readonly do: 'say' | 'void' | 'end' | 'flood'; readonly session: SessionId }
  | { readonly do: 'come'; readonly only: SessionId | undefined }
  | { readonly do: 'pass'; readonly turns: number }
  | { readonly do: 'commit' }

/** Follows attempts by the rule for clients: pieces add up, `void` clears. */
function follow(hub: EventHub, only?: SessionId, shown = new Map<string, string>()) {
  const stop = new AbortController()
  const take = (event: RuntimeEvent) => {
    if (event.type !== 'live' || event.kind === 'notice') return
    const { attempt } = event
    if (event.kind === 'void') shown.delete(attempt)
    else if ('text' in event) shown.set(attempt, (shown.get(attempt) ?? '') + event.text)
  }
  const query = only === undefined ? {} : { sessionId: only }
  const listening = (async () => {
    for await (const event of hub.events(query, stop.signal)) take(event)
  })()
  const close = async () => {
    stop.abort()
    await listening
  }
  return { shown, only, close }
}

describe('a listener that joins in the middle of an answer', () => {
  it('receives every word of it once, whenever it joins and however slow the store is', async () => {
    const session = fc.constantFrom(...ids)
    const act: fc.Arbitrary<Act> = fc.oneof(
      { weight: 5, arbitrary: fc.record({ do: fc.constant('say'), session }) },
      fc.record({ do: fc.constantFrom('void', 'end', 'flood'), session }),
      fc.record({ do: fc.constant('come'), only: fc.option(session, { nil: undefined }) }),
      fc.record({ do: fc.constant('pass'), turns: fc.nat(12) }),
      fc.record({ do: fc.constant('commit') }),
    )
    const of = (what: 'say' | 'end' | 'flood') => ({ do: what, session: one }) as const
    const come = { do: 'come', only: undefined } as const
    const wait = (turns: number) => ({ do: 'pass', turns }) as const
    // An answer ends while a listener is joining, and while one that knows a part of it is behind.
    const examples = Array.from({ length: 40 }, (_, turns): [Act[], number] => [
      [of('say'), come, wait(turns), of('say'), of('end')],
      9,
    ])
    examples.push([[come, wait(50), of('say'), wait(10), of('flood'), of('end')], 9])
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), fc.nat(9), async (acts, readTurns) => {
        const { store, hub } = open(readTurns)
        const told = new Map<string, { session: SessionId; text: string }>()
        const running = new Map<SessionId, string>()
        /** The number of listeners before each attempt ended. */
        const ended = new Map<string, number>()
        const watchers: ReturnType<typeof follow>[] = []
        let number = 0
        const speak = (id: SessionId) => {
          const attempt = running.get(id) ?? `${++number}`
          running.set(id, attempt)
          const text = `${++number} `
          hub.publish(id, { kind: 'delta', turn: 1, step: 1, attempt, text })
          told.set(attempt, { session: id, text: (told.get(attempt)?.text ?? '') + text })
        }
        for (const each of acts) {
          if (each.do === 'pass') await pass(each.turns)
          else if (each.do === 'commit') await create(store)
          else if (each.do === 'come') watchers.push(follow(hub, each.only))
          else if (each.do === 'say') speak(each.session)
          else if (each.do === 'flood') for (let n = 0; n < 1_100; n++) speak(each.session)
          else {
            const attempt = running.get(each.session)
            running.delete(each.session)
            if (attempt === undefined) continue
            if (each.do === 'end') {
              hub.endAttempt(each.session)
              ended.set(attempt, watchers.length)
            } else {
              hub.publish(each.session, { kind: 'void', turn: 1, step: 1, attempt })
              told.delete(attempt)
            }
          }
        }
        await pass(400)
        for (const [place, { shown, only, close }] of watchers.entries()) {
          for (const [attempt, { session: id, text }] of told) {
            if (only !== undefined && only !== id) continue
            // A listener may miss an ended attempt altogether: it receives the stored event
            // instead.
            const isRunning = running.get(id) === attempt
            if (isRunning || shown.has(attempt)) expect(shown.get(attempt)).toBe(text)
          }
          for (const attempt of shown.keys()) {
            expect(told.has(attempt)).toBe(true)
            expect(place).toBeLessThan(ended.get(attempt) ?? Number.POSITIVE_INFINITY)
          }
          await close()
        }
      }),
      { seed: 8, numRuns: 300, examples },
    )
  })

  it('receives no word twice if it reconnects and has kept the earlier text', async () => {
    const { hub } = open()
    const speak = (text: string) =>
      hub.publish(one, { kind: 'delta', turn: 1, step: 1, attempt: 'a', text })
    const first = follow(hub)
    await pass(50)
    speak('The river ')
    await pass(50)
    await first.close()
    speak('is ')
    const { shown, close } = follow(hub, undefined, first.shown)
    await pass(50)
    speak('high.')
    await pass(50)
    expect(shown.get('a')).toBe('The river is high.')
    await close()
  })

  it('receives each answer once, however many are being written, and continues at its own pace', async () => {
    const { hub } = open()
    const speak = (attempt: string) =>
      hub.publish(sessionId(attempt), { kind: 'delta', turn: 1, step: 1, attempt, text: 'word ' })
    const attempts = Array.from({ length: 1_500 }, (_, index) => `a${index}`)
    for (const attempt of attempts) speak(attempt)
    const stop = new AbortController()
    const heard: RuntimeEvent[] = []
    for await (const event of hub.events({}, stop.signal)) {
      heard.push(event)
      // The answer continues while it reads.
      if (event.type === 'caught-up') speak('a0')
      if (heard.length > attempts.length * 2 + 1) stop.abort()
    }
    const kinds = heard.map((event) => ('kind' in event ? event.kind : event.type))
    const told = attempts.flatMap(() => ['void', 'delta'])
    expect(kinds).toEqual(['caught-up', ...told, 'delta'])
  })
})

describe('a listener that joins while a turn waits', () => {
  const wait = (sessionId: SessionId): CurrentNotice => {
    const text = 'Your message is safe.'
    return { sessionId, kind: 'notice', turn: 1, code: 'waiting-for-model', text }
  }
  const told = (hub: EventHub, { sessionId, ...notice }: CurrentNotice) =>
    hub.publish(sessionId, notice)

  function hear(hub: EventHub, only?: SessionId) {
    const stop = new AbortController()
    const heard: string[] = []
    const listening = (async () => {
      const query = only === undefined ? {} : { sessionId: only }
      for await (const event of hub.events(query, stop.signal)) {
        if (event.type !== 'live') continue
        heard.push(`${event.sessionId} ${event.kind === 'notice' ? event.code : event.kind}`)
      }
    })()
    const close = async () => {
      stop.abort()
      await listening
    }
    return { heard, close }
  }

  it('receives the notices of its own session only, before answers in progress elsewhere', async () => {
    const { hub, waits } = open()
    const other = sessionId('other')
    waits.push(wait(one), wait(other))
    hub.publish(sessionId('busy'), { kind: 'delta', turn: 1, step: 1, attempt: 'a', text: 'w' })
    const [all, own] = [hear(hub), hear(hub, one)]
    await pass(100)
    const waiting = ['one waiting-for-model', 'other waiting-for-model']
    expect(all.heard).toEqual([...waiting, 'busy void', 'busy delta'])
    expect(own.heard).toEqual(waiting.slice(0, 1))
    await Promise.all([all.close(), own.close()])
  })

  it('receives the notice once, whenever it is published and however often the listener falls behind', async () => {
    for (const turns of [0, 1, 2, 3, 4, 5, 6, 8, 12, 20, 50]) {
      const { hub, waits } = open(4)
      const { heard, close } = hear(hub, one)
      await pass(turns)
      waits.push(wait(one))
      told(hub, wait(one))
      await pass(100)
      const spent = { kind: 'notice', turn: 1, code: 'budget-spent', text: '' } as const
      hub.publish(one, spent)
      await pass(100)
      for (let n = 0; n < 1_100; n++) hub.publish(one, spent)
      await pass(100)
      expect(heard).toEqual(['one waiting-for-model', 'one budget-spent'])
      await close()
    }
  })

  it('receives the notice before the event that ends the wait, whenever that comes', async () => {
    let tellings = 0
    for (let turns = 0; turns < 40; turns++) {
      const { store, hub, waits } = open(4)
      waits.push(wait(one))
      const stop = new AbortController()
      const heard: string[] = []
      const listening = (async () => {
        for await (const { type } of hub.events({}, stop.signal)) heard.push(type)
      })()
      await pass(turns)
      waits.pop()
      await create(store)
      await pass(100)
      stop.abort()
      await listening
      const [before = '', behind] = heard.join(' ').split('stored')
      if (before.includes('live')) tellings += 1
      expect(behind ?? '').not.toContain('live')
    }
    expect(tellings).toBeGreaterThan(0)
  })

  it('receives no notice of a wait that ended because the turn writes', async () => {
    const { hub, waits } = open()
    waits.push(wait(one))
    hub.publish(one, { kind: 'delta', turn: 1, step: 1, attempt: 'a', text: 'w' })
    const { heard, close } = hear(hub, one)
    await pass(100)
    expect(heard).toEqual(['one void', 'one delta'])
    await close()
  })
})
