import { randomUUID } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { systemClock } from '#core/base/clock'
import { isGone, thisHost } from '#core/base/host'
import { operationId, type SessionId, sessionId } from '#core/base/ids'
import type { JsonValue } from '#core/base/json'
import type { SummaryWriter } from '#core/compaction/summary/summarize'
import type { FormatName } from '#core/message/format-name'
import type { AssistantMessage, Message, ToolCallPart, UserMessage } from '#core/message/message'
import { handoffWriter } from '#core/session/handoff'
import { limitsFor } from '#core/session/limits'
import { Runner } from '#core/session/runner'
import { LEASE_TIMES } from '#core/session/runner-lease'
import { SESSION_SETTINGS } from '#core/session/settings'
import { callsOf, type StepOutcome, type ToolOutcome } from '#core/session/step'
import type { AdmitOutcome } from '#core/store/commits'
import type { Store } from '#core/store/contract'
import { messageCounter } from '#core/tokens/count'
import { estimateText } from '#core/tokens/estimate'
import type { ModelFamily } from '#core/tokens/family'
import { meantFor } from '../sessions/admission.ts'
import { readLoopMessage, writeMessages } from './messages.ts'
import { type LoopCall, LoopReplies, SessionLostError } from './replies.ts'

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
  readonly #replies: LoopReplies
  #wake = () => {}
  #isClosed = false

  constructor(options: LoopOptions) {
    this.#options = options
    const { store, agent, family = 'generic', summarize } = options
    this.#count = messageCounter(family)
    this.#replies = new LoopReplies(store, systemClock)
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
      store: this.#replies.watched(store),
      clock: systemClock,
      steps: { run: (request, signal) => this.#offer(request, signal) },
      tools: {
        isRepeatable: () => false,
        run: ({ call, key, sessionId }, signal) => this.#call(sessionId, call, key, signal),
      },
      writers: {
        model: handoffWriter(counters, { breathe, ...(summarize !== undefined && { summarize }) }),
        digest: handoffWriter(counters, { breathe }),
      },
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
    const { store, agent, format } = this.#options
    const parsed = readLoopMessage(format, message, 'user') as UserMessage
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
    return meantFor(to.sessionId, outcome)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LoopStep> {
    while (!this.#isClosed) {
      const step = this.#waiting.shift()
      if (step !== undefined) {
        // Nobody waits for the answer any more: asking the model would cost for nothing.
        if (!step.signal.aborted) yield step
      } else {
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
    await this.#replies.close()
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
      messages: writeMessages(this.#options.format, request.context),
      signal,
      reply: async (answer) => {
        const { format } = this.#options
        const message = readLoopMessage(format, answer, 'assistant') as AssistantMessage
        if (signal.aborted) throw new SessionLostError('This turn was stopped or taken over.')
        const durable = this.#replies.whenDurable(
          request.sessionId,
          callsOf(message).length,
          signal,
        )
        resolve({ kind: 'replied', message, tokens: this.#count(message) })
        return await durable
      },
      fail: (reason, { retryable }) => resolve({ kind: 'failed', reason, retryable }),
      overflow: () => resolve({ kind: 'overflow' }),
    })
    this.#wake()
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
    const { name, input } = call
    const offered: LoopCall = {
      ...{ id: call.id, name, input, key, signal },
      done: (output, outcome = 'ok') => resolve(outcomeOf(output, outcome)),
    }
    // Whoever replied was told that the session is lost, or is gone: nobody will carry it out.
    if (!this.#replies.offer(id, offered)) resolve(outcomeOf('Stopped.', 'interrupted'))
    return promise
  }
}
