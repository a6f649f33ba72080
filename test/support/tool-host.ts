import type { Clock } from '../../packages/core/src/base/clock.ts'
import { operationId, type SessionId, sessionId } from '../../packages/core/src/base/ids.ts'
import type { JsonValue } from '../../packages/core/src/base/json.ts'
import type { AssistantPart, Message } from '../../packages/core/src/message/message.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import { handoffWriter } from '../../packages/core/src/session/handoff.ts'
import { Runner } from '../../packages/core/src/session/runner/runner.ts'
import { SESSION_SETTINGS } from '../../packages/core/src/session/settings.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { MemoryTables } from '../../packages/core/src/store/memory/tables.ts'
import type { Limits } from '../../packages/core/src/store/tables/rows.ts'
import { messageCounter } from '../../packages/core/src/tokens/count.ts'
import { estimateText } from '../../packages/core/src/tokens/estimate.ts'
import type { Tool } from '../../packages/server/src/tools/tool.ts'
import { toolRunner } from '../../packages/server/src/turn/tool-runner.ts'
import { Timeline } from '../simulation/timeline.ts'

const LIMITS: Limits = {
  hardTokens: 60_000,
  pinTokens: 2_000,
  handoffTokens: 8_000,
  inputTokens: 10_000,
  stepTokens: 20_000,
  outputTokens: 4_000,
  laneMailMax: 500,
  sourceMailMax: 500,
}
const countMessage = messageCounter('generic')
const DIGEST = handoffWriter({
  countTokens: (text) => estimateText(text, 'generic'),
  countMessage,
})

/** A call that a scripted agent makes, or text that it says. */
export type Played = string | { readonly tool: string; readonly input: JsonValue }
/** The agent's next actions; without a call the turn ends. */
export type Play = (context: readonly Message[]) => readonly Played[]

/** Agents that follow a script, on the real runner, tool runner and store, in virtual time. */
export class ToolHost {
  readonly timeline = new Timeline()
  readonly store: Store
  readonly clock: Clock
  readonly tools = new Map<string, readonly Tool[]>()
  readonly plays = new Map<string, Play>()
  readonly crashes: unknown[] = []
  readonly countTokens = (_: SessionId, text: string) => estimateText(text, 'generic')
  readonly #runner: Runner
  #count = 0

  constructor(agents: readonly string[]) {
    const wall = () => START + this.timeline.now
    this.store = openMemoryStore({ tables: new MemoryTables({ clock: wall }) })
    this.clock = {
      now: wall,
      monotonic: () => this.timeline.now,
      after: (delayMs, callback) => this.timeline.plan(null, delayMs, callback),
    }
    this.#runner = new Runner({
      store: this.store,
      clock: this.clock,
      steps: {
        run: async ({ agent, context, upto }) => {
          const played = this.plays.get(agent)?.(context) ?? ['ok']
          const parts = played.map((each, index): AssistantPart => {
            if (typeof each === 'string') return { type: 'text', text: each }
            const { tool: name, input } = each
            return { type: 'tool-call', id: `c${upto}-${index}`, name, input }
          })
          const message = { role: 'assistant', parts } as const
          return { kind: 'replied', message, tokens: countMessage(message) }
        },
      },
      tools: toolRunner({
        tools: this.tools,
        clock: this.clock,
        countMessage: (_, message) => countMessage(message),
        callMsMax: 60_000,
        onFailure: ({ error }) => this.crashes.push(error),
      }),
      writers: { model: DIGEST, digest: DIGEST },
      settings: { ...SESSION_SETTINGS, lingerMs: 500, idleCompactionMs: null },
      handoffMsMax: 60_000,
      agents,
      host: { boot: 'b', process: 1 },
      lease: { leaseMs: 3_000, renewMs: 800, marginMs: 500, pollMs: 100 },
      random: () => `r${++this.#count}`,
      onCrash: (_, error) => this.crashes.push(error),
    })
  }

  async open(
    agent: string,
    id: string,
    { scope = id, ...limits }: Partial<Limits> & { readonly scope?: string } = {},
  ): Promise<SessionId> {
    const operation = operationId(`birth-${id}`)
    const bounds = { ...LIMITS, ...limits }
    const plain = { agent, scope, limits: bounds, policy: 'steer', operation } as const
    await this.store.createSession({ id: sessionId(id), ...plain })
    return sessionId(id)
  }

  start(): void {
    this.#runner.start()
  }

  async say(to: SessionId, text: string): Promise<void> {
    await this.store.admit({
      to: { sessionId: to },
      source: 'chat',
      key: `k${++this.#count}`,
      lane: 'user',
      body: { message: { role: 'user', parts: [{ type: 'text', text }] } },
      tokens: estimateText(text, 'generic'),
    })
  }

  /** Advances virtual time; throws whatever crashed. */
  async pass(ms: number): Promise<void> {
    await this.timeline.run(this.timeline.now + ms, () => false)
    if (this.crashes.length > 0) throw this.crashes[0]
  }

  /** Sends a message and returns the tools' answers once everything is idle. */
  async ask(
    to: SessionId,
    text: string,
    ...steps: (readonly Played[])[]
  ): Promise<readonly string[]> {
    const before = (await this.store.findSession(to))?.tail ?? 0
    const agent = (await this.store.findSession(to))?.agent ?? ''
    const queue = [...steps]
    this.plays.set(agent, () => queue.shift() ?? ['done'])
    await this.say(to, text)
    await this.pass(3_000)
    const lines = await this.transcript(to)
    return lines.filter(({ number, kind }) => number > before && kind === 'result').map(textOfLine)
  }

  async transcript(id: SessionId) {
    const session = await this.store.findSession(id)
    if (session === undefined) return []
    const one = 1 as typeof session.tail
    const entries = await this.store.readEntries({ sessionId: id, from: one, to: session.tail })
    return entries.map(({ number, kind, body }) => ({
      number: Number(number),
      kind,
      body: body === null ? null : (JSON.parse(body) as JsonValue),
    }))
  }

  /** The pins that this session's model would see now, as texts. */
  async pins(id: SessionId): Promise<readonly string[]> {
    const lines = await this.transcript(id)
    const session = await this.store.findSession(id)
    const live = Object.values(session?.pins ?? {}).map(({ entry }) => Number(entry))
    return lines.filter(({ number }) => live.includes(number)).map(({ body }) => String(body))
  }
}

const START = Date.parse('2026-03-01T12:00:00Z')

function textOfLine({ body }: { readonly body: JsonValue }): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** The text of the newest message. */
export function newest(context: readonly Message[]): string {
  const message = context.at(-1)
  return message === undefined ? '' : textOf(message)
}
