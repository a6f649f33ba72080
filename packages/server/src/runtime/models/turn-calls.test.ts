import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { type Logger, SILENT } from '#core/base/logger'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { FakeClock } from '../../../../../test/model/fake-clock.ts'
import type { Attempts } from '../../auxiliary/attempts.ts'
import type { CallRecord } from '../../turn/model-steps.ts'
import { storedAttempts } from './attempts.ts'
import { TurnCalls } from './turn-calls.ts'

const CALL: CallRecord = {
  ...{ sessionId: sessionId('s'), agent: 'main', turn: 1, step: 1, attempt: '1-1' },
  route: {
    ...{ name: 'r', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', model: 'm' },
    credential: { kind: 'none' },
  },
  ...{ outcome: { kind: 'interrupted' }, durationMs: 1, at: 1 },
}

it('recording a call resolves once it is recorded, or rejects with the failure', async () => {
  const store = openMemoryStore()
  const attempts = storedAttempts(store)
  const clock = new FakeClock()
  const over = (record: Attempts['record']) =>
    new TurnCalls({
      ...{ attempts: { ...attempts, record }, prices: undefined, logger: SILENT, clock },
      onModelBack: () => 0,
    })
  await over(async (attempt) => {
    await new Promise((resolve) => setImmediate(resolve))
    return await attempts.record(attempt)
  }).record(CALL)
  const { sessionId } = CALL
  expect(await store.readAttempts({ sessionId, since: 0, limit: 10 })).toHaveLength(1)
  const failing = over(async () => {
    throw new Error('the store is busy')
  })
  await expect(failing.record(CALL)).rejects.toThrow('the store is busy')
})

it('that the calls of a session are recorded is known once the last of them is', async () => {
  const writes: (() => void)[] = []
  const record = () => new Promise<boolean>((resolve) => writes.push(() => resolve(true)))
  const calls = new TurnCalls({
    ...{ attempts: { ...storedAttempts(openMemoryStore()), record }, prices: undefined },
    ...{ logger: SILENT, clock: new FakeClock(), onModelBack: () => 0 },
  })
  const { sessionId } = CALL
  await Promise.all([calls.recorded(sessionId), calls.recordedButLast(sessionId)])
  const ended: string[] = []
  const note = (name: string) => () => void ended.push(name)
  const recording = [calls.record(CALL), calls.record({ ...CALL, step: 2 })]
  const known = [
    calls.recorded(sessionId).then(note('recorded')),
    calls.recordedButLast(sessionId).then(note('but the last')),
  ]
  writes[0]?.()
  await recording[0]
  await new Promise((resolve) => setImmediate(resolve))
  expect(ended).toEqual([])
  writes[1]?.()
  await Promise.all([...recording, ...known])
  expect(ended.toSorted()).toEqual(['but the last', 'recorded'])
})

it("logs each reason for a model's failures once, and its recovery; an interrupt logs nothing", async () => {
  const told: string[] = []
  let isBack = 0
  const write: Logger['info'] = (facts, text) => told.push(`${text} ${JSON.stringify(facts)}`)
  const calls = new TurnCalls({
    ...{ attempts: storedAttempts(openMemoryStore()), prices: undefined, clock: new FakeClock() },
    logger: { ...SILENT, info: write, warn: write },
    onModelBack: () => isBack++,
  })
  const outcomes: CallRecord['outcome'][] = [
    { kind: 'interrupted' },
    { kind: 'refused', refusal: 'server-error', status: 500 },
    { kind: 'refused', refusal: 'server-error', status: 500 },
    { kind: 'deadline', deadline: 'idle' },
    { kind: 'finished', finish: 'stop' },
    { kind: 'finished', finish: 'stop' },
  ]
  const backAfter: number[] = []
  for (const outcome of outcomes) {
    const recorded = calls.record({ ...CALL, outcome })
    // At once, not only when the call is recorded.
    backAfter.push(isBack)
    await recorded
  }
  const route = 'openai-compatible/m@127.0.0.1:1'
  expect(told).toEqual([
    `model fails ${JSON.stringify({
      ...{ route, outcome: 'refused:server-error:500' },
      reason: '127.0.0.1:1 failed; the fault is on its side (status 500).',
    })}`,
    `model fails ${JSON.stringify({
      ...{ route, outcome: 'deadline:idle' },
      reason: 'The model did not answer in time (the answer stopped coming).',
    })}`,
    `model answers again ${JSON.stringify({ route })}`,
  ])
  expect(backAfter).toEqual([0, 0, 0, 0, 1, 1])
})

async function answeredCall() {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  await fixture.hear('work')
  const clock = new FakeClock()
  const calls = new TurnCalls({
    ...{ attempts: storedAttempts(store), prices: undefined, logger: SILENT, clock },
    onModelBack: () => 0,
  })
  const { id } = fixture
  const record = () =>
    calls.record({ ...CALL, sessionId: id, outcome: { kind: 'finished', finish: 'stop' } })
  await record()
  const recorded = async () =>
    (await store.readAttempts({ sessionId: id, since: 0, limit: 9 })).length
  const body = { role: 'assistant', parts: [] }
  const step = { upto: fixture.tail.number, renderer: 'r', calls: [], body, tokens: 1 }
  const reply = { ...fixture.fenced(), turn: 1, step }
  return { calls, clock, id, record, recorded, reply, committing: calls.through(store) }
}

it('an answered call is recorded by the commit of its step, and not again', async () => {
  const { calls, clock, recorded, reply, committing } = await answeredCall()
  expect(await recorded()).toBe(0)
  expect((await committing.commitReply(reply)).kind).toBe('committed')
  expect(await recorded()).toBe(1)
  expect(clock.timers).toBe(0)
  await calls.close()
  expect(await recorded()).toBe(1)
})

it('an answered call whose step is not committed is recorded alone', async () => {
  const { clock, recorded, reply, committing } = await answeredCall()
  const late = { ...reply, tail: { ...reply.tail, hash: 'another' } }
  expect((await committing.commitReply(late)).kind).toBe('superseded')
  expect(await recorded()).toBe(0)
  await clock.pass(5_000)
  await expect.poll(recorded).toBe(1)
})

it('an answered call is recorded before the next one, before a limit is checked and at the close', async () => {
  const { calls, id, record, recorded } = await answeredCall()
  await record()
  expect(await recorded()).toBe(1)
  await calls.recorded(id)
  expect(await recorded()).toBe(2)
  await record()
  await calls.close()
  expect(await recorded()).toBe(3)
})
