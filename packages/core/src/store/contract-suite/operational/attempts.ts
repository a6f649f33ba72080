import assert from 'node:assert/strict'
import { DAY_MS } from '../../../base/clock.ts'
import type { SessionId } from '../../../base/ids.ts'
import type { RecordAttempt } from '../../commits.ts'
import type { AttemptGrouping } from '../../operational-rows.ts'
import { create, expectKind, newOperation, StoreFixture } from '../bench.ts'
import type { StoreCase } from '../case.ts'

/** Model calls and what they cost. */
export const attempts: readonly StoreCase[] = [
  {
    name: 'the commit of a step records its model call, once, and only if it happens',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      const attempt: RecordAttempt = {
        ...{ id: newOperation(), sessionId: fixture.id, task: 'turn', modelRoute: 'main' },
        ...{ outcome: 'ok', inputTokens: 100, outputTokens: 10, at: 50, host: 'h1' },
      }
      const body = { role: 'assistant', parts: [] }
      const { tail } = fixture
      const step = { upto: tail.number, renderer: 'r1', calls: [], body, tokens: 1 }
      const reply = { ...fixture.fenced(), turn: 1, step, attempt }
      const commit = (fields: object) => store.commitReply({ ...reply, ...fields })
      const recorded = () => store.readAttempts({ sessionId: fixture.id, since: 0, limit: 9 })
      expectKind(await commit({ tail: { ...tail, hash: 'another' } }), 'superseded')
      assert.deepEqual(await recorded(), [])
      await assert.rejects(commit({ attempt: { ...attempt, sessionId: await create(store) } }))
      const committed = expectKind(await commit({}), 'committed')
      const { agent } = await fixture.row()
      const row = { ...attempt, agent, cachedTokens: 0, cost: null, turn: null, step: null }
      assert.deepEqual(await recorded(), [row])
      expectKind(await store.recordAttempt(attempt), 'duplicate')
      const ends = { how: 'answered', replies: [] }
      const again = { tail: committed.tail, operation: newOperation(), step: undefined, ends }
      expectKind(await commit(again), 'committed')
      assert.equal((await recorded()).length, 1)
    },
  },
  {
    name: 'what a provider claims to have counted does not keep sums from being read',
    run: async ({ store }) => {
      const sessionId = await create(store)
      const call = { sessionId, task: 'turn', modelRoute: 'main', outcome: 'ok', at: 50 }
      const most = Number.MAX_SAFE_INTEGER
      const counts = { inputTokens: most, outputTokens: most, cachedTokens: most, cost: most }
      for (const id of [newOperation(), newOperation(), newOperation()]) {
        expectKind(await store.recordAttempt({ id, ...call, ...counts }), 'done')
      }
      assert.deepEqual(await store.sumAttempts({ since: 0, sessionId }), {
        ...{ attempts: 3, unpriced: 0, cost: 3 * 2 ** 40 },
        ...{ inputTokens: 3e9, outputTokens: 3e9, cachedTokens: 3e9 },
      })
    },
  },
  {
    name: 'the cost of model calls is summed by session, agent, turn, step, route, task, host, day and hour',
    run: async ({ store }) => {
      const [one, other] = [await create(store), await create(store)]
      const record = (fields: Partial<RecordAttempt>) =>
        store.recordAttempt({
          id: newOperation(),
          sessionId: one,
          task: 'turn',
          modelRoute: 'main',
          outcome: 'ok',
          inputTokens: 100,
          outputTokens: 10,
          at: 50,
          ...fields,
        })
      await record({ cachedTokens: 40, cost: 1_500, host: 'h1' })
      await record({ cost: 500, host: 'h2', at: 60 })
      await record({ task: 'summary', modelRoute: 'small', host: 'h1' })
      await record({ sessionId: other, cost: 2 ** 40, at: 40 })
      const sum = (query: object) => store.sumAttempts({ since: 0, ...query })
      assert.deepEqual(await sum({ sessionId: one }), {
        attempts: 3,
        inputTokens: 300,
        outputTokens: 30,
        cachedTokens: 40,
        cost: 2_000,
        unpriced: 1,
      })
      assert.equal((await sum({})).cost, 2 ** 40 + 2_000)
      assert.equal((await sum({ host: 'h1' })).attempts, 2)
      assert.equal((await sum({ modelRoute: 'main', since: 50 })).cost, 2_000)
      assert.equal((await sum({ task: 'summary', sessionId: one })).unpriced, 1)
      assert.deepEqual(await sum({ since: 61 }), {
        attempts: 0,
        inputTokens: 0,
        outputTokens: 0,
        cachedTokens: 0,
        cost: 0,
        unpriced: 0,
      })
      const [newest] = await store.readAttempts({ sessionId: one, since: 0, limit: 1 })
      assert.deepEqual([newest?.cost, newest?.host, newest?.cachedTokens], [500, 'h2', 0])
      const summaries = await store.readAttempts({ task: 'summary', since: 0, limit: 9 })
      assert.deepEqual(
        summaries.map(({ modelRoute }) => modelRoute),
        ['small'],
      )
      await record({ turn: 1, step: 3, at: 86_400_000, cost: 7 })
      await record({ turn: 1, step: 5, at: 86_400_001, cost: 8 })
      await record({ turn: 10, step: 9, at: 2 * 86_400_000, cost: 9 })
      assert.equal((await sum({ turn: 1, sessionId: one })).cost, 15)
      assert.equal((await sum({ agent: 'ada', since: 86_400_000 })).attempts, 3)
      assert.equal((await sum({ agent: 'b' })).attempts, 0)
      const groups = async (by: AttemptGrouping, query: object = {}) =>
        (await store.groupAttempts({ by, since: 0, limit: 9, ...query })).map(
          ({ key, cost, attempts }) => [key, cost, attempts],
        )
      assert.deepEqual(await groups('turn', { sessionId: one }), [
        ['10', 9, 1],
        ['1', 15, 2],
      ])
      assert.deepEqual(await groups('step', { turn: 1 }), [
        ['5', 8, 1],
        ['3', 7, 1],
      ])
      assert.deepEqual(await groups('day', { since: 50, limit: 2 }), [
        ['1970-01-03', 9, 1],
        ['1970-01-02', 15, 2],
      ])
      await record({ at: 2 * 86_400_000 + 3_599_999, cost: 1 })
      await record({ at: 2 * 86_400_000 + 15 * 3_600_000, cost: 2 })
      assert.deepEqual(await groups('hour', { since: 2 * 86_400_000 }), [
        ['1970-01-03T15', 2, 1],
        ['1970-01-03T00', 10, 2],
      ])
      assert.deepEqual(await groups('session', { sessionId: other }), [[other, 2 ** 40, 1]])
      assert.deepEqual(await groups('agent', { since: 86_400_000 }), [['ada', 27, 5]])
    },
  },
  {
    name: 'old model calls are dropped a piece at a time, and their sums by day stay',
    run: async ({ store }) => {
      const [one, other] = [await create(store), await create(store)]
      const call = { task: 'turn', modelRoute: 'main', outcome: 'ok', host: 'h1' }
      const record = (sessionId: SessionId, at: number, fields: Partial<RecordAttempt> = {}) =>
        store.recordAttempt({
          ...{ ...call, id: newOperation(), sessionId, at, inputTokens: 100, outputTokens: 10 },
          ...{ cachedTokens: 40, cost: 7, turn: 1, step: 2, ...fields },
        })
      await record(one, DAY_MS - 1)
      await record(one, DAY_MS, { cost: null })
      await record(one, 2 * DAY_MS - 1, { task: 'summary', host: 'h2' })
      await record(other, DAY_MS + 5, { cost: 2 ** 40 })
      await record(one, 2 * DAY_MS)
      const queries = [
        ...[{ since: 0 }, { since: DAY_MS }, { since: 2 * DAY_MS }, { since: 0, sessionId: one }],
        ...[
          { since: 0, agent: 'ada' },
          { since: 0, agent: 'b' },
        ],
        ...[
          { since: 0, task: 'summary' },
          { since: 0, host: 'h1', modelRoute: 'main' },
        ],
        { since: DAY_MS, isAuxiliary: true },
      ] as const
      const sums = () =>
        Promise.all([
          ...queries.map((query) => store.sumAttempts(query)),
          ...(['day', 'session', 'agent'] as const).flatMap((by) =>
            queries.map((query) => store.groupAttempts({ ...query, by, limit: 9 })),
          ),
        ])
      const before = await sums()
      const drop = async (beforeDay: number, limit: number) =>
        expectKind(await store.dropAttempts({ beforeDay, limit }), 'dropped').count
      assert.equal(await drop(0, 9), 0)
      // Two pieces of one day add up.
      assert.deepEqual([await drop(2, 2), await drop(2, 2), await drop(2, 2)], [2, 2, 0])
      assert.deepEqual(await sums(), before)
      const left = await store.readAttempts({ since: 0, limit: 9 })
      assert.deepEqual(
        left.map(({ at }) => at),
        [2 * DAY_MS],
      )
      // A day that only partly belongs to the period does not count.
      assert.equal((await store.sumAttempts({ since: DAY_MS + 1 })).attempts, 1)
      assert.equal((await store.sumAttempts({ since: 0, turn: 1, sessionId: one })).attempts, 1)
      for (const by of ['turn', 'step', 'hour'] as const) {
        const [group, ...rest] = await store.groupAttempts({ by, since: 0, limit: 9 })
        assert.deepEqual([group?.attempts, rest], [1, []])
      }
      await record(one, DAY_MS + 9)
      assert.equal(await drop(2, 9), 1)
      assert.equal((await store.sumAttempts({ since: 0 })).attempts, 6)
    },
  },
]
