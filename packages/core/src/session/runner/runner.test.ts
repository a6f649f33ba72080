import { describe, expect, it } from 'vitest'
import { Timeline } from '../../../../../test/simulation/timeline.ts'
import type { AuditWriter } from '../../audit/log/log.ts'
import { type OperationId, operationId, type RunnerId, sessionId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import { RecoveringRoutes } from '../../base/recovering-routes.ts'
import type { Store } from '../../store/contract.ts'
import { OutcomeUnknownError } from '../../store/errors.ts'
import { openMemoryStore } from '../../store/memory/open.ts'
import { MemoryTables } from '../../store/memory/tables.ts'
import type { RunnerRow } from '../../store/tables/rows.ts'
import { Sender } from '../sender.ts'
import { SESSION_SETTINGS } from '../settings.ts'
import { Runner, type RunnerParts } from './runner.ts'

const LIMITS = {
  hardTokens: 6_000,
  pinTokens: 200,
  handoffTokens: 1_200,
  inputTokens: 1_000,
  stepTokens: 1_200,
  outputTokens: 400,
  laneMailMax: 500,
  sourceMailMax: 500,
}
const LEASE = { leaseMs: 3_000, renewMs: 800, marginMs: 500, pollMs: 100 }
const SESSION = sessionId('a')
const NO_HANDOFF = { write: async () => ({ kind: 'failed', reason: 'none' }) as const }

/** One host with virtual time: processes over one set of tables, each with its own line to them. */
class Host {
  readonly timeline = new Timeline()
  readonly tables = new MemoryTables({ clock: () => 1_000_000 + this.timeline.now })
  readonly store = openMemoryStore({ tables: this.tables })
  readonly sent: string[] = []
  readonly crashes: unknown[] = []
  #ids = 0

  process(
    name: string,
    line: (store: Store) => Partial<Store> = () => ({}),
    parts: Partial<RunnerParts> = {},
  ): Runner {
    const { timeline } = this
    const store: Store = { ...this.store, ...line(this.store) }
    const clock = {
      now: () => 1_000_000 + timeline.now,
      monotonic: () => timeline.now,
      after: (delayMs: number, callback: () => void) => timeline.plan(null, delayMs, callback),
    }
    const message = { role: 'assistant', parts: [{ type: 'text', text: 'ok' }] } as const
    const send = async (reply: { claimant: RunnerId | null }) => {
      this.sent.push(`${name} as ${reply.claimant}`)
      return { kind: 'sent', receipt: '' } as const
    }
    const edges = [{ name: 'chat', send }]
    const runner = new Runner({
      store,
      clock,
      steps: { run: async () => ({ kind: 'replied', message, tokens: 4 }) },
      tools: {
        isRepeatable: () => false,
        run: async () => ({ outcome: 'ok', output: 'done', tokens: 4 }),
      },
      writers: { model: NO_HANDOFF, digest: NO_HANDOFF },
      settings: { ...SESSION_SETTINGS, lingerMs: 300, idleCompactionMs: null },
      handoffMsMax: 60_000,
      agents: ['main'],
      host: { boot: 'b', process: 1 },
      lease: LEASE,
      random: () => `${name}${++this.#ids}`,
      sender: new Sender({ store, clock, edges, retryMs: 100, attemptsMax: 3 }),
      onCrash: (_, error) => this.crashes.push(error),
      ...parts,
    })
    runner.start()
    return runner
  }

  run(forMs: number): Promise<boolean> {
    return this.timeline.run(this.timeline.now + forMs, () => false)
  }

  later<Value>(delayMs: number, run: () => Promise<Value> | Value): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.timeline.plan(null, delayMs, () => {
        Promise.resolve(run()).then(resolve, reject)
      })
    })
  }

  async ask(id = SESSION): Promise<void> {
    const message = { role: 'user', parts: [{ type: 'text', text: 'hello' }] }
    const body = { message, replyTo: { edge: 'chat', address: 'x' } } as JsonValue
    const mail = { source: 'ann', key: `k${++this.#ids}`, lane: 'user', body, tokens: 3 } as const
    const outcome = await this.store.admit({ to: { sessionId: id }, ...mail })
    expect(outcome.kind).toBe('admitted')
  }

  async create(id = SESSION): Promise<void> {
    const operation: OperationId = operationId(`create-${id}`)
    const session = { id, agent: 'main', limits: LIMITS, policy: 'steer' } as const
    await this.store.createSession({ ...session, operation })
  }

  /** A session held by a runner that never beats again. */
  async held(by: Pick<RunnerRow, 'id' | 'boot' | 'process'>): Promise<void> {
    await this.create()
    await this.store.registerRunner({ ...by, startedAt: 0, leaseMs: LEASE.leaseMs })
    await this.store.acquire({ sessionId: SESSION, runner: by.id, holder: 'h', fence: 0 })
    await this.ask()
  }
}

describe('sessions that wait for a model', () => {
  it('resume gradually: one after the first answer, twice as many after each further one', () => {
    const routes = new RecoveringRoutes()
    const woken: number[] = []
    const answer = (waiting = 1_000) =>
      routes.answered('r', (count) => {
        woken.push(count)
        return Math.min(count, waiting)
      })
    answer()
    routes.failed('r')
    for (let times = 0; times < 3; times++) answer()
    routes.failed('r')
    answer()
    expect(woken).toEqual([1, 2, 4, 1])
    // Fewer sessions wait than may try: the route has recovered, and later answers wake none.
    answer(1)
    answer()
    expect(woken).toEqual([1, 2, 4, 1, 2])
  })

  const message = { role: 'assistant', parts: [{ type: 'text', text: 'ok' }] } as const

  /** Each session has a message. A call is tried four times; an answered one takes 100 ms. */
  async function callsOf(sessions: number, forMs: number, takes: (now: number) => boolean) {
    const host = new Host()
    for (let index = 0; index < sessions; index++) {
      const id = sessionId(`s${index}`)
      await host.create(id)
      await host.ask(id)
    }
    const routes = new RecoveringRoutes()
    const counted = { answered: 0, refused: 0 }
    const runner: Runner = host.process('p', () => ({}), {
      steps: {
        run: async () => {
          for (let tries = 1; !takes(host.timeline.now); tries++) {
            counted.refused++
            if (tries === 4) {
              routes.failed('r')
              return { kind: 'failed', reason: 'busy', retryable: true }
            }
            await host.later(500 * 2 ** (tries - 1), () => {})
          }
          await host.later(100, () => {})
          counted.answered++
          routes.answered('r', (count) => runner.modelIsBack(count))
          return { kind: 'replied', message, tokens: 4 }
        },
      },
    })
    await host.run(forMs)
    return counted
  }

  it('return a few at a time while the provider accepts one call a second', async () => {
    let freeAt = 0
    const { answered, refused } = await callsOf(150, 60_000, (now) => {
      if (now < freeAt) return false
      freeAt = now + 1_000
      return true
    })
    expect(answered).toBeGreaterThan(20)
    // All start at once and return once by their own clocks, four tries each. If each answer woke
    // all, they would be refused 8,900 times.
    expect(refused).toBeLessThan(2_000)
  })

  it('are all answered within seconds of the model’s recovery', async () => {
    const { answered } = await callsOf(150, 40_000, (now) => now > 20_000)
    expect(answered).toBe(150)
  })
})

describe('a runner', () => {
  it('reads an unchanged store once in eight rounds, and sees a new message at once', async () => {
    const host = new Host()
    await host.create()
    let asked = 0
    const runner = host.process('p', (store) => ({
      readReady: (query) => {
        asked++
        return store.readReady(query)
      },
    }))
    await host.run(2_000)
    asked = 0
    await host.run(80 * LEASE.pollMs)
    expect(asked).toBeLessThan(12)
    await host.ask()
    await host.run(LEASE.pollMs / 4)
    expect(runner.sessions).toEqual([SESSION])
  })

  /** Counts the calls of a store by name. */
  function counted(calls: Map<string, number>): (store: Store) => Partial<Store> {
    return (store) =>
      Object.fromEntries(
        Object.entries(store).map(([name, call]) => [
          name,
          (...asked: unknown[]) => {
            calls.set(name, (calls.get(name) ?? 0) + 1)
            return (call as (...asked: unknown[]) => unknown)(...asked)
          },
        ]),
      )
  }

  it('answers and sends a message to an idle session with five commits and few reads', async () => {
    const host = new Host()
    const calls = new Map<string, number>()
    const runner = host.process('p', counted(calls))
    await host.create()
    await host.ask()
    await host.run(2_000)
    expect([host.sent.length, runner.sessions.length]).toEqual([1, 0])
    calls.clear()
    await host.ask()
    await host.run(250)
    const {
      acquire,
      deliver,
      commitReply,
      settleReply,
      claimReply = 0,
      ...reads
    } = Object.fromEntries(calls)
    expect(host.sent).toHaveLength(2)
    // The fifth is the claim of the reply; a claim that finds none commits nothing.
    expect([acquire, deliver, commitReply, settleReply]).toEqual([1, 1, 1, 1])
    const sum = Object.values(reads).reduce((all, each) => all + each, claimReply)
    expect([reads['look'], reads['readContext'], sum]).toEqual([2, 1, 18])
  })

  /** The calls of the store by name, while sessions that were answered rest for an hour. */
  async function callsAtRest(sessions: number, lingerMs: number): Promise<Record<string, number>> {
    const host = new Host()
    const calls = new Map<string, number>()
    const lease = { leaseMs: 30_000, renewMs: 8_000, marginMs: 5_000, pollMs: 250 }
    const runner = host.process('p', counted(calls), {
      ...{ lease, settings: { ...SESSION_SETTINGS, lingerMs } },
    })
    for (let index = 0; index < sessions; index++) {
      const id = sessionId(`s${index}`)
      await host.create(id)
      await host.ask(id)
    }
    await host.run(10_000)
    expect(host.sent).toHaveLength(sessions)
    expect(runner.sessions).toHaveLength(sessions)
    calls.clear()
    await host.run(3_600_000)
    return Object.fromEntries(calls)
  }

  it.each([0, 5, 50])(
    'makes few requests to a store in which nothing happens, with %i sessions',
    async (sessions) => {
      const { look = 0, release = 0, setWake = 0, ...calls } = await callsAtRest(sessions, 30_000)
      // One commit for each session; the alarm is part of it.
      expect([look, release, setWake]).toEqual([0, sessions, 0])
      const sum = Object.values(calls).reduce((all, each) => all + each, 0)
      // A renewal every eight seconds; every two seconds: others, ready sessions and replies.
      expect(sum).toBeLessThan(3_600 * (1 / 8 + 3 / 2) * 1.2)
    },
  )

  it('never looks at an idle session, however long it holds it', async () => {
    const { look = 0, release = 0 } = await callsAtRest(50, 24 * 3_600_000)
    expect([look, release]).toEqual([0, 0])
  })

  it('looks about every ten seconds at the only session in a turn, even without a change', async () => {
    const host = new Host()
    await host.create()
    await host.ask()
    let looks = 0
    host.process(
      'p',
      (store) => ({
        look: (query) => {
          looks++
          return store.look(query)
        },
      }),
      { steps: { run: () => new Promise(() => {}) } },
    )
    await host.run(5_000)
    looks = 0
    await host.run(60_000)
    expect(looks).toBeGreaterThanOrEqual(4)
  })

  it('looks again only for a message that was recorded after the last look started', async () => {
    const host = new Host()
    const [first, second] = [sessionId('a'), sessionId('b')]
    let looks = 0
    const runner = host.process(
      'p',
      (store) => ({
        look: async (query) => {
          looks++
          const found = await store.look(query)
          return await host.later(500, () => found)
        },
      }),
      { settings: { ...SESSION_SETTINGS, lingerMs: 60_000 } },
    )
    for (const id of [first, second]) {
      await host.create(id)
      await host.ask(id)
    }
    await host.run(10_000)
    expect([host.sent.length, runner.sessions.length]).toEqual([2, 2])
    looks = 0
    await host.ask(first)
    runner.wake(first)
    await host.run(3_000)
    expect([host.sent.length, looks]).toEqual([3, 1])
    await host.ask(first)
    runner.wake(first)
    await host.run(10)
    // The look read the session before this message was admitted; only the record mentions it.
    await host.ask(first)
    await host.run(4_000)
    expect(looks).toBe(3)
    expect((await host.store.findSession(first))?.pending.user).toBe(0)
  })

  it('does not send a reply that it claimed under a runner id that it has lost', async () => {
    const host = new Host()
    await host.create()
    let claims = 0
    const runner = host.process('p', (store) => ({
      // The first claim succeeds at once, but its answer takes longer than the runner keeps its id.
      claimReply: async (request) => {
        const outcome = await store.claimReply(request)
        const isFirst = outcome.kind === 'claimed' && claims++ === 0
        return isFirst ? host.later(4_000, () => outcome) : outcome
      },
    }))
    await host.ask()
    await host.run(900)
    const first = runner.id as RunnerId
    expect(claims).toBe(1)
    await host.store.retireRunner({ runner: first })
    await host.run(6_000)
    expect(runner.id).not.toBe(first)
    expect(host.sent).toEqual([`p as ${runner.id}`])
  })

  it('takes over from a runner whose connection stays lost, but not from one that reconnects', async () => {
    const host = new Host()
    const far = 'far' as RunnerId
    await host.held({ id: far, boot: 'another host', process: 9 })
    let goneAt = Number.POSITIVE_INFINITY
    const runner = host.process('p', (store) => ({
      listRunners: async () => {
        const isAbsent = host.timeline.now >= goneAt && { isAbsent: true as const }
        return (await store.listRunners()).map((row) =>
          row.id === far ? { ...row, ...isAbsent } : row,
        )
      },
    }))
    await host.run(300)
    goneAt = 300
    await host.run(600)
    goneAt = Number.POSITIVE_INFINITY
    await host.run(600)
    expect(runner.sessions).toEqual([])
    goneAt = 1_500
    // Before the end of its lease, which was never renewed.
    await host.run(LEASE.leaseMs - 1_500 - 300)
    expect(runner.sessions).toEqual([SESSION])
  })

  it('finds a session that it acquired by a request with an unknown outcome', async () => {
    const host = new Host()
    const dead = 'dead' as RunnerId
    await host.held({ id: dead, boot: 'b', process: 9 })
    let asked = 0
    const runner = host.process('p', (store) => ({
      // The first acquisition succeeds long after its outcome was reported as unknown. The session
      // still names its last holder, which is gone, and must not be taken to belong to another
      // runner.
      acquire: async (request) => {
        if (asked++ > 0) return store.acquire(request)
        void host.later(250, () => store.acquire(request))
        throw new OutcomeUnknownError({ verb: 'acquire', problem: 'the line broke' })
      },
      // Nothing else leads to the session: the list of ready sessions does not contain it.
      readReady: async (query) => (asked === 0 ? store.readReady(query) : []),
    }))
    const beat = (await host.store.listRunners()).find(({ id }) => id === dead)?.beat ?? 0
    await host.store.dismissRunner({ runner: dead, beat })
    await host.run(3_000)
    expect(host.sent).toEqual([`p as ${runner.id}`])
    expect(host.crashes).toEqual([])
  })

  it('retries a crashing session less and less often, and continues once it stops crashing', async () => {
    const host = new Host()
    await host.create()
    let isBroken = true
    const runner = host.process('p', (store) => ({
      deliver: async (request) => {
        if (isBroken) throw new TypeError('a bug of ours')
        return await store.deliver(request)
      },
    }))
    await host.ask()
    await host.run(1_000)
    expect(host.crashes.length).toBeGreaterThanOrEqual(2)
    await host.run(60_000)
    expect(host.crashes.length).toBeLessThan(15)
    isBroken = false
    await host.run(120_000)
    expect(host.sent).toEqual([`p as ${runner.id}`])
  })

  it('waits a whole lease for a silent runner that may be alive', async () => {
    const host = new Host()
    await host.held({ id: 'silent' as RunnerId, boot: 'b', process: 9 })
    host.process('p')
    await host.run(LEASE.leaseMs - 200)
    expect(host.tables.runners.has('silent' as RunnerId)).toBe(true)
    expect(host.sent).toEqual([])
    await host.run(1_500)
    expect(host.sent).toHaveLength(1)
  })

  it('takes over at once from a runner whose process is dead', async () => {
    const host = new Host()
    await host.held({ id: 'dead' as RunnerId, boot: 'b', process: 9 })
    await host.store.registerRunner({
      ...{ id: 'living' as RunnerId, boot: 'b', process: 8 },
      ...{ startedAt: 0, leaseMs: LEASE.leaseMs },
    })
    host.process('p', undefined, { isGone: ({ process }) => process === 9 })
    await host.run(500)
    expect(host.tables.runners.has('dead' as RunnerId)).toBe(false)
    expect(host.tables.runners.has('living' as RunnerId)).toBe(true)
    expect(host.sent).toHaveLength(1)
  })
})

describe('the audit', () => {
  it('distinguishes a session released as idle from one released at shutdown', async () => {
    const host = new Host()
    await host.create()
    await host.ask()
    const ends: unknown[] = []
    const write: AuditWriter['write'] = (line) => {
      if (line.kind === 'lease lost') ends.push(line.reason)
    }
    const runner = host.process('p', undefined, { audit: { write } })
    await host.run(2_000)
    expect(ends).toEqual(['released'])
    await host.ask()
    const closing = host.later(200, () => runner.close())
    await host.run(2_000)
    await closing
    expect(ends).toEqual(['released', 'shutdown'])
  })
})
