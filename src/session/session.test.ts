import { describe, expect, it } from 'vitest'
import { Timeline } from '../../test/simulation/timeline.ts'
import type { Clock } from '../base/clock.ts'
import { operationId, type SessionId, sessionId } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import type { Message } from '../message/message.ts'
import { textOf } from '../message/text.ts'
import type { Store } from '../store/contract.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { MemoryTables } from '../store/memory/tables.ts'
import type { Limits } from '../store/rows.ts'
import { messageCounter } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { StepOutcome, StepRequest } from '../turn/step.ts'
import { type HandoffWriter, handoffWriter } from './handoff.ts'
import { previewCompaction } from './preview.ts'
import { Runner } from './runner.ts'
import { Sender } from './sender.ts'
import { SESSION_SETTINGS, type SessionSettings } from './state.ts'

const LIMITS: Limits = {
  hardTokens: 6_000,
  pinTokens: 200,
  handoffTokens: 1_200,
  inputTokens: 1_000,
  stepTokens: 1_200,
  outputTokens: 400,
  laneMailMax: 500,
  sourceMailMax: 500,
}
const COUNTERS = {
  countTokens: (text: string) => estimateText(text, 'generic'),
  countMessage: messageCounter('generic'),
}
const DIGEST = handoffWriter(COUNTERS)
const SETTINGS: SessionSettings = { ...SESSION_SETTINGS, lingerMs: 500, idleCompactionMs: null }

/** Answers at once unless told otherwise, and remembers what it was shown. */
class Model {
  readonly shown: StepRequest[] = []
  answer: (request: StepRequest, signal: AbortSignal) => Promise<StepOutcome> = async () =>
    says('ok')

  run(request: StepRequest, signal: AbortSignal): Promise<StepOutcome> {
    this.shown.push(request)
    return this.answer(request, signal)
  }

  get last(): readonly string[] {
    return this.shown.at(-1)?.context.map(textOf) ?? []
  }
}

function says(text: string): StepOutcome {
  const message = { role: 'assistant', parts: [{ type: 'text', text }] } as const
  return { kind: 'replied', message, tokens: COUNTERS.countMessage(message as Message) }
}

interface Host {
  readonly store?: Store
  readonly timeline?: Timeline
  readonly name?: string
  readonly writer?: HandoffWriter
  readonly settings?: SessionSettings
}

/** One process: the real runner on virtual time. */
function host({ timeline = new Timeline(), ...parts }: Host = {}) {
  const wall = () => 1_000_000 + timeline.now
  const { store = openMemoryStore({ tables: new MemoryTables({ clock: wall }) }) } = parts
  const clock: Clock = {
    now: wall,
    monotonic: () => timeline.now,
    after: (delayMs, callback) => timeline.plan(null, delayMs, callback),
  }
  const model = new Model()
  const sent: string[] = []
  const crashes: unknown[] = []
  let count = 0
  const runner = new Runner({
    store,
    clock,
    steps: model,
    tools: {
      isRepeatable: () => false,
      run: async () => ({ outcome: 'ok', output: 'done', tokens: 4 }),
    },
    writers: { model: parts.writer ?? DIGEST, digest: DIGEST },
    settings: parts.settings ?? SETTINGS,
    handoffMsMax: 60_000,
    agents: ['main'],
    host: { boot: 'b', process: 1 },
    lease: { leaseMs: 3_000, renewMs: 800, marginMs: 500, pollMs: 100 },
    random: () => `${parts.name ?? 'one'}${++count}`,
    sender: new Sender({
      store,
      clock,
      edges: [
        {
          name: 'chat',
          send: async (reply) => {
            sent.push(`${reply.address}: ${reply.body}`)
            return { kind: 'sent', receipt: '' }
          },
        },
      ],
      retryMs: 100,
      attemptsMax: 3,
    }),
    onCrash: (_, error) => crashes.push(error),
  })
  runner.start()
  const run = (forMs: number) => timeline.run(timeline.now + forMs, () => false)
  return { runner, store, timeline, model, sent, crashes, run }
}

async function create(store: Store, name: string): Promise<SessionId> {
  const id = sessionId(name)
  const operation = operationId(`create-${name}`)
  await store.createSession({ id, agent: 'main', limits: LIMITS, policy: 'steer', operation })
  return id
}

let keys = 0

async function say(store: Store, id: SessionId, text: string): Promise<void> {
  const message = { role: 'user', parts: [{ type: 'text', text }] }
  const body = { message, replyTo: { edge: 'chat', address: id } } as JsonValue
  const tokens = COUNTERS.countTokens(text)
  const key = `k${keys++}`
  await store.admit({ to: { sessionId: id }, source: 'ann', key, lane: 'user', body, tokens })
}

async function ask(store: Store, id: SessionId, control: string, body: JsonObject = {}) {
  const key = `k${keys++}`
  const lane = 'control' as const
  await store.admit({ to: { sessionId: id }, source: 'ann', key, lane, control, body, tokens: 0 })
}

const LONG = 'Please look at the build of the harbour project again and tell me what is left. '

/** Fills a session until a compaction has something to gain. */
async function fill(process: ReturnType<typeof host>, id: SessionId, turns = 12): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await say(process.store, id, `${LONG.repeat(4)} (${id} ${turn})`)
    await process.run(400)
  }
}

async function rowOf(store: Store, id: SessionId) {
  const row = await store.findSession(id)
  if (row === undefined) throw new Error(`No session ${id}.`)
  return row
}

describe('a session', () => {
  it('answers a message once and gives its lease back when nothing is left to do', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await say(process.store, id, 'hello')
    await process.run(3_000)
    expect(process.model.shown.map((step) => step.context.map(textOf))).toEqual([['hello']])
    expect(process.sent).toEqual(['a: {"text":"ok"}'])
    expect(await rowOf(process.store, id)).toMatchObject({ runner: null, turnState: 'idle' })
  })

  it('compaction preserves the session id, and what comes after it is delivered', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id)
    await ask(process.store, id, 'compact')
    await process.run(500)
    const row = await rowOf(process.store, id)
    expect(row.id).toBe(id)
    expect(row.effective).toBeGreaterThan(0)
    expect(row.pending).toEqual({ control: 0, user: 0, notification: 0 })
    await say(process.store, id, 'still there?')
    await process.run(500)
    expect(process.model.shown.at(-1)?.context.map(({ role }) => role)).toContain('handoff')
    expect(process.model.last.at(-1)).toBe('still there?')
    expect(await process.store.verify({})).toEqual([])
  })

  it('never mixes two sessions: A is compacted while B is written to', async () => {
    const process = host()
    const a = await create(process.store, 'a')
    const b = await create(process.store, 'b')
    await fill(process, a)
    await ask(process.store, a, 'compact')
    for (let n = 0; n < 10; n++) await say(process.store, b, `to b ${n}`)
    await process.run(1_000)
    expect((await rowOf(process.store, a)).effective).toBeGreaterThan(0)
    expect((await rowOf(process.store, b)).effective).toBe(0)
    for (const step of process.model.shown) {
      const other = step.sessionId === a ? '(b ' : '(a '
      expect(step.context.map(textOf).join('\n')).not.toContain(other)
    }
  })

  it('joins five requests for a compaction into one [fault 27]', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id)
    const before = (await process.store.listOperations({ sessionId: id, limit: 50 })).length
    for (let n = 0; n < 5; n++) await ask(process.store, id, 'compact')
    await process.run(1_000)
    const after = await process.store.listOperations({ sessionId: id, limit: 50 })
    expect(after.length - before).toBe(1)
    expect((await rowOf(process.store, id)).pending.control).toBe(0)
  })

  it('goes on with a digest when no model can write the handoff, and has it rewritten later', async () => {
    let isDown = true
    const writer: HandoffWriter = {
      write: async (request, signal) =>
        isDown ? { kind: 'failed', reason: 'down' } : await DIGEST.write(request, signal),
    }
    const process = host({ writer })
    const id = await create(process.store, 'a')
    await fill(process, id, 70)
    const operations = await process.store.listOperations({ sessionId: id, limit: 50 })
    expect(
      operations.filter((row) => row.by === 'digest' && row.state === 'committed'),
    ).not.toEqual([])
    expect(process.model.last.at(-1)).toContain('(a 69)')
    isDown = false
    await process.run(120_000)
    expect((await rowOf(process.store, id)).by).toBe('rewrite')
  })

  it('reverts the newest compaction and shows the words again', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id, 8)
    await ask(process.store, id, 'compact')
    await process.run(500)
    expect((await rowOf(process.store, id)).effective).toBeGreaterThan(0)
    await ask(process.store, id, 'revert')
    await process.run(500)
    expect((await rowOf(process.store, id)).effective).toBe(0)
    await say(process.store, id, 'and now?')
    await process.run(500)
    expect(process.model.last.join('\n')).toContain('(a 0)')
  })

  it('previews without a trace, and installs exactly what was shown', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id)
    const { store } = process
    const before = await rowOf(store, id)
    const request = { store, writer: DIGEST, settings: SETTINGS, sessionId: id }
    const preview = await previewCompaction(request, new AbortController().signal)
    if (preview.kind !== 'previewed') throw new Error(preview.kind)
    expect(preview.tokensAfter).toBeLessThan(preview.tokensBefore)
    expect(await rowOf(store, id)).toEqual(before)
    await ask(store, id, 'install', preview.install)
    await process.run(500)
    const { effective } = await rowOf(store, id)
    const [entry] = await store.readEntries({ sessionId: id, from: effective, to: effective })
    expect(JSON.parse(entry?.body ?? '')).toEqual(JSON.parse(JSON.stringify(preview.handoff)))
    await ask(store, id, 'install', preview.install)
    await process.run(500)
    expect(await rowOf(store, id)).toMatchObject({ effective, pending: { control: 0 } })
  })

  it('installs no preview whose foundation was changed meanwhile', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id, 8)
    const { store } = process
    const request = { store, writer: DIGEST, settings: SETTINGS, sessionId: id }
    const preview = await previewCompaction(request, new AbortController().signal)
    if (preview.kind !== 'previewed') throw new Error(preview.kind)
    for (const control of ['compact', 'revert']) {
      await ask(store, id, control)
      await process.run(500)
    }
    await ask(store, id, 'install', preview.install)
    await process.run(500)
    expect(await rowOf(store, id)).toMatchObject({ effective: 0, pending: { control: 0 } })
  })

  it('is taken over when its process falls silent, and finds the zombie refused [fault 20]', async () => {
    const store = openMemoryStore()
    const timeline = new Timeline()
    const first = host({ store, timeline, name: 'first' })
    const id = await create(store, 'a')
    const { promise, resolve } = Promise.withResolvers<StepOutcome>()
    first.model.answer = () => promise
    await say(store, id, 'hello')
    await first.run(1_000)
    expect(first.model.shown).toHaveLength(1)
    // The first process stands still: its runner renews nothing any more.
    await store.dismissRunner({
      runner: (await store.listRunners())[0]?.id ?? ('' as never),
      beat: (await store.listRunners())[0]?.beat ?? 0,
    })
    const second = host({ store, timeline, name: 'second' })
    await second.run(300)
    resolve(says('too late'))
    await second.run(3_000)
    const row = await rowOf(store, id)
    const said = await store.readEntries({ sessionId: id, from: 1 as never, to: row.tail })
    expect(said.filter((entry) => entry.kind === 'assistant').map((entry) => entry.body)).toEqual([
      expect.stringContaining('"ok"'),
    ])
  })

  it('gives everything back when its process closes, in the middle of a step too', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    process.model.answer = (_request, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () =>
          resolve({ kind: 'interrupted', message: null, tokens: 0 }),
        )
      })
    await say(process.store, id, 'hello')
    await process.run(500)
    const closed = process.runner.close()
    await process.run(500)
    await closed
    expect(await rowOf(process.store, id)).toMatchObject({ runner: null, turnState: 'running' })
    expect(await process.store.listRunners()).toEqual([])
  })

  it("ends one actor for a programmer's error, and the process answers others", async () => {
    const process = host()
    const a = await create(process.store, 'a')
    const b = await create(process.store, 'b')
    process.model.answer = async ({ sessionId: id }) => {
      if (id === a) throw new TypeError('planted')
      return says('ok')
    }
    await say(process.store, a, 'hello')
    await say(process.store, b, 'hello')
    await process.run(5_000)
    expect(process.crashes[0]).toBeInstanceOf(TypeError)
    expect(process.sent).toContain('b: {"text":"ok"}')
    // Three times is enough: the turn is given up and says so.
    expect(process.sent.some((line) => line.startsWith('a: ') && line.includes('abruptly'))).toBe(
      true,
    )
    expect((await rowOf(process.store, a)).turnState).toBe('idle')
  })
})
