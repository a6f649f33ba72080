import { randomUUID } from 'node:crypto'
import { systemClock } from '../base/clock.ts'
import { KnownError } from '../base/errors.ts'
import { operationId, type SessionId, sessionId } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import type { SummaryWriter } from '../compaction/summarize.ts'
import type { FormatName } from '../message/codec.ts'
import { codecOf } from '../message/codecs/all.ts'
import type {
  AssistantMessage,
  Message,
  Part,
  ToolCallPart,
  UserMessage,
} from '../message/message.ts'
import { handoffWriter } from '../session/handoff.ts'
import { LEASE_TIMES, Runner } from '../session/runner.ts'
import { SESSION_SETTINGS } from '../session/state.ts'
import type { AdmitOutcome } from '../store/commits.ts'
import type { Store } from '../store/contract.ts'
import { messageCounter } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { ModelFamily } from '../tokens/family.ts'
import { callsOf, type StepOutcome, type ToolOutcome } from '../turn/step.ts'
import { isGone, thisHost } from './host.ts'
import { limitsFor } from './limits.ts'

/**
 * Durable sessions for a program that has a loop of its own. The program calls the model and the
 * tools; everything else is the session's: the mailbox, the lease, the two commits of a step,
 * recovery after a crash, and compaction beside the conversation.
 *
 *   for await (const step of loop) {
 *     const answer = await askModel(step.messages)
 *     for (const call of await step.reply(answer)) call.done(await runTool(call))
 *   }
 */
export interface LoopOptions {
  readonly store: Store
  /** Whose sessions these are. Every process that names the same agent shares them. */
  readonly agent: string
  /** The format in which messages come and go; that of the library that is used. */
  readonly format: FormatName
  /** What the model takes, input and output together. */
  readonly windowTokens: number
  readonly outputTokensMax?: number
  readonly system?: string
  /** Whose tokens are counted. */
  readonly family?: ModelFamily
  /** Writes summaries; without it handoffs are digests, which need no model. */
  readonly summarize?: SummaryWriter
}

export interface LoopStep {
  readonly sessionId: SessionId
  /** The context, in the loop's format: exactly what to send to the model. */
  readonly messages: readonly JsonValue[]
  /** Ends the call when the turn is stopped or the session is lost. */
  readonly signal: AbortSignal
  /**
   * The model's answer, in the loop's format. Resolves when it is durable: from then on, and not
   * before, the calls in it may be carried out.
   */
  reply(answer: JsonValue | readonly JsonValue[]): Promise<readonly LoopCall[]>
  /** There is no answer. Retryable: the step comes again after a while. */
  fail(reason: string, how: { readonly retryable: boolean }): void
  /** The provider said that the context is too long: it is compacted, and the step comes again. */
  overflow(): void
}

export interface LoopCall {
  readonly id: string
  readonly name: string
  readonly input: JsonValue
  /** The same for every repetition of this call: hand it on where something takes a key. */
  readonly key: string
  readonly signal: AbortSignal
  done(output: string, outcome?: 'ok' | 'error'): void
}

/** Somebody else holds the session now; what was said is not part of it. */
export class SessionLostError extends KnownError {
  override readonly name = 'SessionLostError'
  readonly code = 'session-lost'
  readonly retryable = false
}

export interface Loop extends AsyncIterable<LoopStep> {
  /** Durable when it resolves. Makes the session if there is none of that id. */
  admit(id: string, message: JsonValue, key?: string): Promise<AdmitOutcome>
  /** Ends the iteration and gives every session back. The store stays open. */
  close(): Promise<void>
}

export async function openLoop(options: LoopOptions): Promise<Loop> {
  await options.store.readStore()
  return new OwnLoop(options)
}

const HANDOFF_MS_MAX = 10 * 60_000

class OwnLoop implements Loop {
  readonly #options: LoopOptions
  readonly #runner: Runner
  readonly #count: (message: Message) => number
  readonly #waiting: LoopStep[] = []
  readonly #replies = new Map<SessionId, PendingReply>()
  #wake = () => {}
  #isClosed = false

  constructor(options: LoopOptions) {
    this.#options = options
    const { store, agent, family = 'generic', summarize } = options
    this.#count = messageCounter(family)
    const counters = {
      countTokens: (text: string) => estimateText(text, family),
      countMessage: this.#count,
    }
    const wanted = {
      limits: this.#limits(),
      body: { system: options.system ?? '' },
      tokens: this.#systemTokens(),
    }
    this.#runner = new Runner({
      store: this.#watched(store),
      clock: systemClock,
      steps: { run: (request, signal) => this.#offer(request, signal) },
      tools: {
        isRepeatable: () => false,
        run: ({ call, key, sessionId }, signal) => this.#call(sessionId, call, key, signal),
      },
      writers: { model: handoffWriter(counters, summarize), digest: handoffWriter(counters) },
      settings: SESSION_SETTINGS,
      handoffMsMax: HANDOFF_MS_MAX,
      wantedFor: () => wanted,
      agents: [agent],
      host: thisHost(),
      isGone,
      lease: LEASE_TIMES,
      random: () => randomUUID().replaceAll('-', ''),
    })
    this.#runner.start()
  }

  async admit(id: string, message: JsonValue, key: string = randomUUID()): Promise<AdmitOutcome> {
    const { store, agent } = this.#options
    const parsed = this.#read(message, 'user') as UserMessage
    const to = { sessionId: sessionId(id) }
    const body = { message: parsed as unknown as JsonValue }
    const tokens = this.#count(parsed)
    const ask = () => store.admit({ to, source: agent, key, lane: 'user', body, tokens })
    let outcome = await ask()
    if (outcome.kind === 'unknown') {
      const operation = operationId(randomUUID())
      const limits = this.#limits()
      await store.createSession({ id: to.sessionId, agent, limits, policy: 'steer', operation })
      outcome = await ask()
    }
    this.#runner.wake(to.sessionId)
    return outcome
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LoopStep> {
    while (!this.#isClosed) {
      const step = this.#waiting.shift()
      if (step !== undefined) yield step
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#wake()
    await this.#runner.close()
  }

  #systemTokens(): number {
    const { system = '', family = 'generic' } = this.#options
    return estimateText(system, family)
  }

  #limits() {
    const { windowTokens, outputTokensMax } = this.#options
    return limitsFor({
      windowTokens,
      ...(outputTokensMax !== undefined && { outputTokensMax }),
      fixedTokens: this.#systemTokens(),
    })
  }

  #offer(
    request: { sessionId: SessionId; context: readonly Message[] },
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    const { promise, resolve } = Promise.withResolvers<StepOutcome>()
    const interrupted = { kind: 'interrupted', message: null, tokens: 0 } as const
    signal.addEventListener('abort', () => resolve(interrupted), { once: true })
    this.#waiting.push({
      sessionId: request.sessionId,
      messages: this.#write(request.context),
      signal,
      reply: async (answer) => {
        const message = this.#read(answer, 'assistant') as AssistantMessage
        if (signal.aborted) throw new SessionLostError('This turn was stopped or taken over.')
        const durable = this.#awaitReply(request.sessionId, callsOf(message).length, signal)
        resolve({ kind: 'replied', message, tokens: this.#count(message) })
        return await durable
      },
      fail: (reason, { retryable }) => resolve({ kind: 'failed', reason, retryable }),
      overflow: () => resolve({ kind: 'overflow' }),
    })
    this.#wake()
    return promise
  }

  #awaitReply(id: SessionId, calls: number, signal: AbortSignal): Promise<readonly LoopCall[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LoopCall[]>()
    const lost = new SessionLostError('The session was taken over before the answer was durable.')
    signal.addEventListener('abort', () => reject(lost), { once: true })
    this.#replies.set(id, { wanted: calls, calls: [], resolve, reject: () => reject(lost) })
    return promise
  }

  #call(id: SessionId, call: ToolCallPart, key: string, signal: AbortSignal): Promise<ToolOutcome> {
    const { promise, resolve } = Promise.withResolvers<ToolOutcome>()
    const outcomeOf = (output: string, outcome: ToolOutcome['outcome']): ToolOutcome => {
      const part = { type: 'text', text: output } as const
      const result = { type: 'tool-result', callId: call.id, output: [part] } as const
      return { outcome, output, tokens: this.#count({ role: 'tool', parts: [result] }) }
    }
    signal.addEventListener('abort', () => resolve(outcomeOf('Stopped.', 'interrupted')), {
      once: true,
    })
    const pending = this.#replies.get(id)
    const { name, input } = call
    const offered: LoopCall = {
      ...{ id: call.id, name, input, key, signal },
      done: (output, outcome = 'ok') => resolve(outcomeOf(output, outcome)),
    }
    if (pending === undefined) throw new Error('A call came before its reply.')
    pending.calls.push(offered)
    if (pending.calls.length === pending.wanted) this.#settle(id, pending)
    return promise
  }

  #settle(id: SessionId, pending: PendingReply): void {
    this.#replies.delete(id)
    pending.resolve(pending.calls)
  }

  /** Tells a reply's writer when it is durable. */
  #watched(store: Store): Store {
    return {
      ...store,
      commitReply: async (request) => {
        const outcome = await store.commitReply(request)
        const { sessionId: id } = request.lease
        const pending = this.#replies.get(id)
        if (pending !== undefined && outcome.kind === 'committed' && pending.wanted === 0) {
          this.#settle(id, pending)
        }
        if (pending !== undefined && outcome.kind === 'superseded' && outcome.by !== 'tail') {
          this.#replies.delete(id)
          pending.reject()
        }
        return outcome
      },
    }
  }

  #write(messages: readonly Message[]): readonly JsonValue[] {
    const { format } = this.#options
    const document = codecOf(format).format({ format, messages, notes: [] })
    return document as readonly JsonValue[]
  }

  /** One answer may be several items in some formats; together they are one message of ours. */
  #read(value: JsonValue | readonly JsonValue[], role: 'user' | 'assistant'): Message {
    const { format } = this.#options
    const document = Array.isArray(value) ? value : [value]
    const problem = codecOf(format).reject(document)
    if (problem !== undefined) {
      throw new MessageError(`Expected a message in the format ${format}: ${problem}`)
    }
    const { messages } = codecOf(format).parse(document as JsonValue)
    const ours = messages.filter((message) => message.role === role)
    const [first] = ours
    if (first === undefined || ours.length !== messages.length) {
      throw new MessageError(`Expected one ${role} message in the format ${format}.`)
    }
    const parts = ours.flatMap((message): readonly Part[] =>
      message.role === 'handoff' ? [] : message.parts,
    )
    return { ...first, parts } as Message
  }
}

export class MessageError extends KnownError {
  override readonly name = 'MessageError'
  readonly code = 'invalid-message'
  readonly retryable = false
}

interface PendingReply {
  readonly wanted: number
  readonly calls: LoopCall[]
  readonly resolve: (calls: readonly LoopCall[]) => void
  readonly reject: () => void
}
