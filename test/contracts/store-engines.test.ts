import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  entryNumber,
  mailNumber,
  operationId,
  runnerId,
  sessionId,
} from '../../packages/core/src/base/ids.ts'
import type { Lease, Store } from '../../packages/core/src/store/contract.ts'
import { LIMITS } from '../../packages/core/src/store/contract-suite/bench.ts'
import { memoryBench } from './benches/memory.ts'
import { sqliteBench } from './benches/sqlite.ts'

/**
 * The same story told to two engines: every answer and every row at the end must be the same, but
 * for what is drawn at random or taken from the clock. The rules are shared, so what this compares
 * is how each engine finds rows and writes changes.
 */
type Chapter = readonly [verb: number, one: number, two: number]

const SESSIONS = ['s1', 's2'].map(sessionId)
const RUNNERS = ['r1', 'r2'].map(runnerId)
const LANES = ['user', 'notification', 'control'] as const

/** How often each verb comes: work is done often and torn down seldom, or stories go nowhere. */
const WEIGHTS = [8, 8, 2, 12, 6, 5, 6, 1, 5, 4, 1, 1, 2, 1, 1, 4, 1, 1, 2]

class Teller {
  readonly #store: Store
  readonly #leases = new Map<string, Lease>()
  #count = 0

  constructor(store: Store) {
    this.#store = store
  }

  async begin(): Promise<void> {
    const limits = { ...LIMITS, laneMailMax: 4, sourceMailMax: 5 }
    for (const id of SESSIONS) {
      const plain = { agent: 'ada', limits, policy: 'steer' } as const
      await this.#store.createSession({ id, ...plain, operation: this.#operation() })
    }
    for (const id of RUNNERS) await this.#register(id)
  }

  #operation() {
    this.#count += 1
    return operationId(`o${this.#count}`)
  }

  #register(id: (typeof RUNNERS)[number]) {
    const host = { boot: 'b', process: 1, startedAt: 1, leaseMs: 1 }
    return this.#store.registerRunner({ id, ...host })
  }

  async tell([verb, one, two]: Chapter): Promise<unknown> {
    const store = this.#store
    const id = SESSIONS[one % 2] ?? sessionId('s1')
    const runner = RUNNERS[two % 2] ?? runnerId('r1')
    const session = await store.findSession(id)
    const held = this.#leases.get(id)
    const lease = held ?? { sessionId: id, runner, holder: 'none', fence: 0 }
    const tail = { number: session?.tail ?? entryNumber(0), hash: session?.tailHash ?? '' }
    const operation = this.#operation()
    const fenced = { lease, tail, operation }
    const content = { body: { text: `text ${two}` }, tokens: two * 20 }
    const waiting = await store.listMail({ sessionId: id, state: 'pending', limit: 10 })
    const turn = session?.turn ?? 0
    switch (verb) {
      case 0:
      case 1: {
        const lane = LANES[two % 3] ?? 'user'
        const control = lane === 'control' ? { control: two % 2 ? 'stop' : 'compact' } : {}
        const key = `k${one}-${two}-${this.#count % 40}`
        const to = { sessionId: id }
        return store.admit({ to, source: `a${two % 2}`, key, lane, ...control, ...content })
      }
      case 2: {
        const request = { sessionId: id, runner, holder: operation, fence: session?.fence ?? 0 }
        const outcome = await store.acquire(request)
        if (outcome.kind === 'acquired') this.#leases.set(id, outcome.lease)
        return outcome.kind
      }
      case 3: {
        const mail = waiting.filter(({ lane }) => lane !== 'control').slice(0, 1 + (two % 2))
        if (mail.length === 0) return 'nothing to deliver'
        return store.deliver({ ...fenced, mail: mail.map(({ number }) => number) })
      }
      case 4: {
        const step = { upto: tail.number, renderer: 'r', calls: two % 2 ? ['c'] : [], ...content }
        return store.commitReply({ ...fenced, turn, step })
      }
      case 5: {
        const step = { upto: tail.number, renderer: 'r', calls: [], ...content }
        // An edge per session: the order between sessions depends on the clock and is not
        // guaranteed.
        const reply = { edge: id, address: `a${two % 2}`, key: operation, body: 'x' }
        const ends = { how: 'answered', replies: [reply] } as const
        return store.commitReply({ ...fenced, turn, step, ends })
      }
      case 6:
        return store.commitResults({
          ...fenced,
          results: [{ call: 'c', outcome: 'ok', ...content }],
        })
      case 7:
        return store.recover({
          ...{ ...fenced, repeatable: [], attemptsMax: 1, lossesMax: 2, failureReplies: [] },
        })
      case 8: {
        const by = (['model', 'digest', 'rewrite', 'clearing'] as const)[two % 4] ?? 'model'
        const isSame = by === 'rewrite' || by === 'clearing'
        const covers = (isSame ? session?.covers : session?.seen) ?? entryNumber(0)
        return store.claimCompaction({ lease, operation, by, trigger: 't', reason: '', covers })
      }
      case 9: {
        const running = session?.operation ?? operation
        return store.commitCompaction({ ...fenced, operation: running, ...content, result: {} })
      }
      case 10: {
        const running = session?.operation ?? operation
        const { fence } = lease
        return store.failCompaction({ operation: running, fence, state: 'failed', reason: 'x' })
      }
      case 11: {
        const target = session?.effective ?? entryNumber(0)
        return store.revert({ ...fenced, target, tokensAfter: two * 100 })
      }
      case 12:
        return store.pin({
          ...fenced,
          name: `p${two % 2}`,
          change: two > 5 ? 'removed' : 'set',
          ...content,
        })
      case 13: {
        const entries = [entryNumber(1 + two)]
        return store.eraseEntries({ ...fenced, entries, reason: 'r', replacement: content })
      }
      case 14:
        return store.withdraw({ sessionId: id, mail: waiting[0]?.number ?? mailNumber(1) })
      case 15: {
        const outcome = await store.claimReply({ edge: id, claimant: runner, at: two })
        if (outcome.kind === 'none') return outcome.kind
        const { sessionId: of, number, attempt } = outcome.reply
        const result =
          two % 2
            ? ({ kind: 'sent', receipt: '' } as const)
            : ({ kind: 'failed', retryAt: two, attemptsMax: 3 } as const)
        if (two > 7) return [of, number, attempt]
        const settled = await store.settleReply({
          sessionId: of,
          number,
          attempt,
          claimant: runner,
          result,
        })
        return [of, number, attempt, settled]
      }
      case 16: {
        const beat = (await store.listRunners()).find((row) => row.id === runner)?.beat ?? 0
        await store.dismissRunner({ runner, beat })
        return this.#register(runner)
      }
      case 17:
        return store.release({ lease, reason: two % 2 ? 'idle' : 'shutdown' })
      default:
        return store.search({ sessionId: id, text: `text ${two}`, limit: 3, neighbours: 1 })
    }
  }

  async end(): Promise<unknown> {
    const store = this.#store
    const all = await Promise.all(
      SESSIONS.map(async (id) => [
        await store.findSession(id),
        await store.readEntries({ sessionId: id, from: entryNumber(1), to: entryNumber(999) }),
        await store.listMail({ sessionId: id, limit: 99 }),
        (await store.listOperations({ sessionId: id, limit: 99 })).toSorted((a, b) =>
          a.id < b.id ? -1 : 1,
        ),
        await store.listReplies({ sessionId: id, limit: 99 }),
        (await store.readContext({ sessionId: id }))?.entries.map(({ number }) => number),
      ]),
    )
    const ready = await store.readReady({ agents: ['ada'], at: 0, limit: 9 })
    const audit = await store.readAudit({ after: 0, limit: 999 })
    return { all, ready: ready.map(({ id }) => id), audit, verify: await store.verify({}) }
  }
}

/** Times and whatever is made with a salt differ by nature. */
function comparable(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, item: unknown) =>
      /hash|salt|^at$|At$/i.test(name) && name !== 'turnAt' && name !== 'dueAt' ? null : item,
    ),
  )
}

describe('engines', () => {
  it('memory and SQLite return the same results', async () => {
    const verb = fc.oneof(
      ...WEIGHTS.map((weight, arbitrary) => ({ weight, arbitrary: fc.constant(arbitrary) })),
    )
    const chapter = fc.tuple(verb, fc.nat(1), fc.nat(9))
    await fc.assert(
      fc.asyncProperty(
        fc.array(chapter, { minLength: 150, maxLength: 250, size: 'max' }),
        async (story) => {
          await using memory = await memoryBench()
          await using sqlite = await sqliteBench()
          const tellers = [new Teller(memory.store), new Teller(sqlite.store)] as const
          for (const teller of tellers) await teller.begin()
          for (const each of [[2, 0, 0], [2, 1, 0], ...story] as const) {
            const [one, other] = await Promise.all(
              tellers.map((teller) => teller.tell(each as Chapter)),
            )
            expect([each, comparable(other)]).toEqual([each, comparable(one)])
          }
          const [one, other] = await Promise.all(tellers.map((teller) => teller.end()))
          expect(comparable(other)).toEqual(comparable(one))
        },
      ),
      { numRuns: 15, endOnFailure: true },
    )
  })
})
