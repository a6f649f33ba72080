import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { entryNumber, operationId, sessionId } from '../../packages/core/src/base/ids.ts'
import type { JsonValue } from '../../packages/core/src/base/json.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import { handoffWriter } from '../../packages/core/src/session/handoff.ts'
import { Runner } from '../../packages/core/src/session/runner/runner.ts'
import { Sender } from '../../packages/core/src/session/sender.ts'
import { SESSION_SETTINGS } from '../../packages/core/src/session/settings.ts'
import type { StepRequest } from '../../packages/core/src/session/step.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { MemoryTables } from '../../packages/core/src/store/memory/tables.ts'
import { counters, openAuxiliary } from './auxiliary-bench.ts'

const LIMITS = {
  hardTokens: 60_000,
  pinTokens: 1_000,
  handoffTokens: 4_000,
  inputTokens: 12_000,
  stepTokens: 12_000,
  outputTokens: 2_000,
  laneMailMax: 5_000,
  sourceMailMax: 5_000,
}
const STORM = 500

it('five hundred messages and as many stops during one summary: it is committed, and each message is seen once [S1, fault 36]', async () => {
  // The summary is under way for as long as the storm takes.
  const speed = { outputTokensPerSecond: 5 }
  const bench = await openAuxiliary({ speed })
  const { journal } = bench.server
  const store = openMemoryStore({ tables: new MemoryTables({ clock: () => Date.now() }) })
  const id = sessionId('storm')
  const operation = operationId('create')
  await store.createSession({ id, agent: 'main', limits: LIMITS, policy: 'steer', operation })

  const shown: StepRequest[] = []
  const reply = {
    role: 'assistant',
    parts: [{ type: 'text', text: 'Noted. '.repeat(30) }],
  } as const
  const crashes: unknown[] = []
  let random = 0
  const runner = new Runner({
    store,
    clock: systemClock,
    steps: {
      run: async (request: StepRequest) => {
        shown.push(request)
        return { kind: 'replied', message: reply, tokens: counters.countMessage(reply as Message) }
      },
    },
    tools: {
      isRepeatable: () => false,
      run: async () => ({ outcome: 'ok', output: 'done', tokens: 4 }),
    },
    writers: { model: bench.handoffs, digest: handoffWriter(counters) },
    settings: { ...SESSION_SETTINGS, lingerMs: 200, idleCompactionMs: null },
    handoffMsMax: 60_000,
    agents: ['main'],
    host: { boot: 'b', process: 1 },
    lease: { leaseMs: 10_000, renewMs: 2_000, marginMs: 1_000, pollMs: 20 },
    random: () => `r${++random}`,
    sender: new Sender({
      store,
      clock: systemClock,
      edges: [{ name: 'chat', send: async () => ({ kind: 'sent', receipt: '' }) }],
      retryMs: 100,
      attemptsMax: 3,
    }),
    onCrash: (_, error) => crashes.push(error),
  })
  runner.start()

  let keys = 0
  const admit = async (lane: 'user' | 'control', body: JsonValue, more: object = {}) => {
    const key = `k${keys++}`
    const text = JSON.stringify(body)
    const tokens = lane === 'user' ? counters.countTokens(text) : 0
    const mail = { to: { sessionId: id }, source: 'ann', key, lane, body, tokens, ...more }
    const admitted = await store.admit(mail as Parameters<typeof store.admit>[0])
    expect(admitted.kind).toBe('admitted')
  }
  const say = (text: string) =>
    admit('user', {
      message: { role: 'user', parts: [{ type: 'text', text }] },
      replyTo: { edge: 'chat', address: 'a' },
    })

  for (let turn = 0; turn < 12; turn++) {
    await say(`Chapter ${turn}: ${'the lighthouse keeper wrote down the weather. '.repeat(12)}`)
    await expect.poll(() => shown.length).toBeGreaterThan(turn)
  }
  await admit('control', {}, { control: 'compact' })
  await expect.poll(() => journal.openRequests).toBe(1)
  for (let at = 0; at < STORM; at++) {
    await say(`storm message ${at}.`)
    await admit('control', {}, { control: 'stop' })
    if (at % 50 === 0) await sleep(2)
  }
  const summaries = journal.requests
  expect(journal.openRequests).toBe(1)
  speed.outputTokensPerSecond = 10_000

  const effective = async () => (await store.findSession(id))?.effective ?? 0
  await expect.poll(effective, { timeout: 15_000 }).toBeGreaterThan(0)
  const isSeen = (at: number) =>
    shown.some(({ context }) =>
      context.some((each) => textOf(each).includes(`storm message ${at}.`)),
    )
  await expect
    .poll(() => Array.from({ length: STORM }, (_, at) => isSeen(at)).every(Boolean), {
      timeout: 15_000,
    })
    .toBe(true)
  const tail = (await store.findSession(id))?.tail ?? entryNumber(0)
  const range = { sessionId: id, from: entryNumber(1), to: tail }
  const entries = JSON.stringify(await store.readEntries(range))
  for (let at = 0; at < STORM; at++) {
    expect(entries.split(`storm message ${at}.`)).toHaveLength(2)
  }
  expect(journal.requests).toBe(summaries)
  expect(journal.last?.outcome).toBe('answered')
  const operations = await store.listOperations({ sessionId: id, limit: 10 })
  expect(operations.map(({ by, state }) => `${by} ${state}`)).toEqual(['model committed'])
  expect(crashes).toEqual([])
  await runner.close()
  await store.close()
  await bench.close()
})
