import type { Clock } from '../../packages/core/src/base/clock.ts'
import { operationId, type SessionId, sessionId } from '../../packages/core/src/base/ids.ts'
import type { JsonObject, JsonValue } from '../../packages/core/src/base/json.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import { type HandoffWriter, handoffWriter } from '../../packages/core/src/session/handoff.ts'
import { previewCompaction } from '../../packages/core/src/session/preview.ts'
import type { Notice } from '../../packages/core/src/session/protocol/state.ts'
import { Runner } from '../../packages/core/src/session/runner/runner.ts'
import { Sender } from '../../packages/core/src/session/sender.ts'
import {
  SESSION_SETTINGS,
  type SessionSettings,
  type WantedSettings,
} from '../../packages/core/src/session/settings.ts'
import type { StepOutcome, StepRequest, ToolRunner } from '../../packages/core/src/session/step.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { MemoryTables } from '../../packages/core/src/store/memory/tables.ts'
import type { Limits } from '../../packages/core/src/store/tables/rows.ts'
import { messageCounter } from '../../packages/core/src/tokens/count.ts'
import { estimateText } from '../../packages/core/src/tokens/estimate.ts'
import { Timeline } from '../simulation/timeline.ts'

export const LIMITS: Limits = {
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
export const DIGEST = handoffWriter(COUNTERS)
export const SETTINGS: SessionSettings = {
  ...SESSION_SETTINGS,
  lingerMs: 500,
  idleCompactionMs: null,
}

/** Answers at once unless configured otherwise, and records the contexts it was given. */
export class Model {
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

export function says(text: string): StepOutcome {
  const message = { role: 'assistant', parts: [{ type: 'text', text }] } as const
  return { kind: 'replied', message, tokens: COUNTERS.countMessage(message as Message) }
}

export function calls(id: string): StepOutcome {
  const call = { type: 'tool-call', id, name: 'read', input: {} } as const
  const message = { role: 'assistant', parts: [call] } as const
  return { kind: 'replied', message, tokens: COUNTERS.countMessage(message as Message) }
}

export interface Host {
  readonly store?: Store
  readonly timeline?: Timeline
  readonly name?: string
  readonly writer?: HandoffWriter
  readonly digest?: HandoffWriter
  readonly settings?: SessionSettings
  readonly wanted?: () => WantedSettings
  /** The result of a tool. */
  readonly tool?: () => string
}

/** One process: the real runner on virtual time. */
export function host({ timeline = new Timeline(), ...parts }: Host = {}) {
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
  const notices: Notice[] = []
  let count = 0
  const tools: ToolRunner = {
    isRepeatable: () => false,
    run: async () => {
      const output = parts.tool?.() ?? 'done'
      return { outcome: 'ok', output, tokens: COUNTERS.countTokens(output) }
    },
  }
  const runner = new Runner({
    store,
    clock,
    steps: model,
    tools,
    writers: { model: parts.writer ?? DIGEST, digest: parts.digest ?? DIGEST },
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
    ...(parts.wanted !== undefined && { wantedFor: parts.wanted }),
    onNotice: (_id, _agent, { notice, isKnown }) => {
      if (!isKnown) notices.push(notice)
    },
    onCrash: (_, error) => crashes.push(error),
  })
  runner.start()
  const run = (forMs: number) => timeline.run(timeline.now + forMs, () => false)
  return { runner, store, timeline, model, tools, sent, crashes, notices, run }
}

export async function create(store: Store, name: string): Promise<SessionId> {
  const id = sessionId(name)
  const operation = operationId(`create-${name}`)
  await store.createSession({ id, agent: 'main', limits: LIMITS, policy: 'steer', operation })
  return id
}

let keys = 0

export async function say(store: Store, id: SessionId, text: string): Promise<void> {
  const message = { role: 'user', parts: [{ type: 'text', text }] }
  const body = { message, replyTo: { edge: 'chat', address: id } } as JsonValue
  const tokens = COUNTERS.countTokens(text)
  const key = `k${keys++}`
  await store.admit({ to: { sessionId: id }, source: 'ann', key, lane: 'user', body, tokens })
}

export async function ask(store: Store, id: SessionId, control: string, body: JsonObject = {}) {
  const key = `k${keys++}`
  const lane = 'control' as const
  await store.admit({ to: { sessionId: id }, source: 'ann', key, lane, control, body, tokens: 0 })
}

const LONG = 'Please look at the build of the harbour project again and tell me what is left. '

/** Fills a session until a compaction has something to gain. */
export async function fill(
  process: ReturnType<typeof host>,
  id: SessionId,
  turns = 12,
): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await say(process.store, id, `${LONG.repeat(4)} (${id} ${turn})`)
    await process.run(400)
  }
}

/** The body that installs a preview. */
export async function preview(
  { store }: ReturnType<typeof host>,
  id: SessionId,
  settings = SETTINGS,
): Promise<JsonObject> {
  const request = { store, writer: DIGEST, settings, sessionId: id }
  const shown = await previewCompaction(request, new AbortController().signal)
  if (shown.kind !== 'previewed') throw new Error(shown.kind)
  return JSON.parse(JSON.stringify(shown.install)) as JsonObject
}

export async function rowOf(store: Store, id: SessionId) {
  const row = await store.findSession(id)
  if (row === undefined) throw new Error(`No session ${id}.`)
  return row
}
