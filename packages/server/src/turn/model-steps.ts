import type { Clock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import type { AssistantMessage, Message, UserMessage } from '#core/message/message'
import type { StepOutcome, StepRequest, StepRunner } from '#core/session/step'
import { callModel } from '../model/calls/call.ts'
import type { Deadlines } from '../model/connections/deadlines.ts'
import type { CallUsage, EndPiece, Model, StreamPiece, ToolSpec } from '../model/model.ts'
import {
  type CalledRoute,
  type Outcome,
  prospectOf,
  quoteOutcome,
} from '../model/outcomes/outcome.ts'
import { calledRoute, type ModelRoute } from '../model/routes/route.ts'
import { judgeAnswer, withoutCalls } from './answer-verdict.ts'
import { Calibrations } from './calibrations.ts'
import { StepCounts } from './steps-taken.ts'

/** The settings for a step of one agent; read at every step, so that they may change in between. */
export interface StepAgent {
  /** The main model, then its fallbacks. */
  readonly models: readonly [Model, ...Model[]]
  readonly tools: readonly ToolSpec[]
  /** How many steps of one turn may call tools; the next one is asked to sum up. */
  readonly stepsMax: number
  readonly outputTokensMax: number
  readonly countMessage: (message: Message) => number
}

export interface ModelStepParts {
  /** Undefined: no agent of that name is configured. */
  readonly agentOf: (name: string, request: StepRequest) => StepAgent | undefined
  readonly deadlines: Deadlines
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  /**
   * Shared with the code that counts input, so that all counts of a session are corrected alike.
   */
  readonly calibrations?: Calibrations
  readonly onPiece?: (attempt: LiveAttempt, piece: LivePiece) => void
  readonly onCall?: (record: CallRecord) => void
  /** Called before each model call: why it must not be made; null: it may. */
  readonly reasonToPause?: (request: StepRequest) => Promise<string | null>
}

/** `step` is the entry that the context was built up to; `attempt` is never used twice for a step. */
export interface LiveAttempt {
  readonly sessionId: SessionId
  readonly turn: number
  readonly step: number
  readonly attempt: string
}

export type LivePiece =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly callId: string; readonly tool: string }
  /** Withdraws everything published of this attempt. */
  | { readonly kind: 'void' }
  /** A call failed, and the next try is at this time. */
  | { readonly kind: 'retry'; readonly text: string; readonly nextTryAt: number }

/** One attempt on one route. The last attempt of a call carries the usage of all. */
export interface CallRecord {
  readonly sessionId: SessionId
  readonly agent: string
  readonly turn: number
  readonly step: number
  readonly attempt: string
  readonly route: ModelRoute
  readonly outcome: Outcome
  readonly usage?: CallUsage
  readonly durationMs: number
  readonly at: number
}

/**
 * Steps over a model: sends the context, publishes pieces as they arrive, and returns the reply as
 * the outcome. An empty reply is retried once, then reported. At the step limit the model is asked
 * to sum up, with nothing to call.
 */
export function modelSteps(parts: ModelStepParts): StepRunner {
  const calibrations = parts.calibrations ?? new Calibrations()
  const counts = new StepCounts()
  // Counts for the life of the process, so that a repeated step continues the numbering.
  let attempts = 0
  const nextAttempt = () => ++attempts
  return {
    async run(request, signal) {
      const agent = parts.agentOf(request.agent, request)
      if (agent === undefined) {
        const reason = `No agent of the name ${request.agent} is configured here.`
        return { kind: 'failed', reason, retryable: false }
      }
      const steps = counts.taken(request)
      const step = new Step(parts, { agent, request, signal, calibrations, nextAttempt })
      const outcome =
        steps < agent.stepsMax ? await step.answer(agent.tools) : await step.sumUp(steps)
      if (outcome.kind === 'replied') counts.note(request, steps)
      // The text of a failed attempt is dropped; that of an interrupted one is kept.
      else if (outcome.kind !== 'interrupted') step.takeBack()
      return outcome
    },
  }
}

interface Asked {
  readonly agent: StepAgent
  readonly request: StepRequest
  readonly signal: AbortSignal
  readonly calibrations: Calibrations
  readonly nextAttempt: () => number
}

class Step {
  readonly #parts: ModelStepParts
  readonly #asked: Asked
  #number: number
  #hasEmitted = false
  /** The receiver of the last call. */
  #called: CalledRoute | undefined

  constructor(parts: ModelStepParts, asked: Asked) {
    this.#parts = parts
    this.#asked = asked
    this.#number = asked.nextAttempt()
  }

  /** None of this attempt's published text was kept. */
  takeBack(): void {
    if (this.#hasEmitted) this.#void()
  }

  async answer(
    tools: readonly ToolSpec[],
    messages: readonly Message[] = this.#asked.request.context,
  ): Promise<StepOutcome> {
    for (let ask = 1; ; ask++) {
      const pause = await this.#pause()
      if (pause !== null) return pause
      const end = await this.#call(messages, tools)
      const outcome = this.#outcomeOf(end)
      if (outcome !== 'empty') return outcome
      if (ask === ASKS_MAX) {
        const reason = 'The model answered twice with nothing.'
        return { kind: 'failed', reason, retryable: false }
      }
      this.#void()
    }
  }

  /** Offers no tools; if the provider refuses earlier calls without them, offers them again. */
  async sumUp(steps: number): Promise<StepOutcome> {
    const pause = await this.#pause()
    if (pause !== null) return pause
    const { agent, request } = this.#asked
    const messages = [...request.context, sumUpMessage(steps)]
    const end = await this.#call(messages, [])
    const { outcome } = end
    const isRefused = outcome.kind === 'refused' && outcome.refusal === 'bad-request'
    const isToAskAgain = isRefused && agent.tools.length > 0
    if (isToAskAgain) this.#void()
    const summed = this.#outcomeOf(isToAskAgain ? await this.#call(messages, agent.tools) : end)
    if (summed !== 'empty' && summed.kind !== 'replied') return summed
    const said = summed === 'empty' ? EMPTY : withoutCalls(summed.message)
    const note = `[This turn ended at its limit of ${steps} steps.]`
    const message = { ...said, parts: [...said.parts, { type: 'text', text: note } as const] }
    return { kind: 'replied', message, tokens: this.#count(message) }
  }

  async #pause(): Promise<StepOutcome | null> {
    const reason = await this.#parts.reasonToPause?.(this.#asked.request)
    return typeof reason === 'string' ? { kind: 'paused', reason } : null
  }

  #outcomeOf({ outcome, reply }: EndPiece): StepOutcome | 'empty' {
    switch (outcome.kind) {
      case 'finished': {
        const { outputTokensMax } = this.#asked.agent
        const verdict = judgeAnswer(outcome.finish, reply, outputTokensMax)
        if (verdict.kind === 'empty') return 'empty'
        if (verdict.kind === 'give-up') {
          return { kind: 'failed', reason: verdict.reason, retryable: false }
        }
        const { message } = verdict
        return { kind: 'replied', message, tokens: this.#count(message) }
      }
      case 'interrupted': {
        const message = reply === null ? null : withoutCalls(reply)
        return { kind: 'interrupted', message, tokens: message === null ? 0 : this.#count(message) }
      }
      case 'overflow': {
        const limitTokens = this.#limitOf(outcome)
        return { kind: 'overflow', ...(limitTokens !== undefined && { limitTokens }) }
      }
      default: {
        const retryable = prospectOf(outcome) === 'heals'
        return { kind: 'failed', reason: quoteOutcome(outcome, this.#called), retryable }
      }
    }
  }

  /** If the provider counts more tokens than we do, its limit is lower in our count. */
  #limitOf({ limitTokens, askedTokens = 0 }: Extract<Outcome, { kind: 'overflow' }>) {
    if (limitTokens === undefined) return undefined
    const { agent, request } = this.#asked
    // The requested size may include the space for the answer; counting it in, the limit is never
    // too low.
    const counted = this.#estimate(request.context) + agent.outputTokensMax
    const share = askedTokens > counted ? counted / askedTokens : 1
    return Math.floor(limitTokens * share)
  }

  #estimate(messages: readonly Message[]): number {
    const { countMessage } = this.#asked.agent
    return messages.reduce((sum, message) => sum + countMessage(message), 0)
  }

  /** One call with its retries and fallbacks; everything but its end is published on the way. */
  async #call(messages: readonly Message[], tools: readonly ToolSpec[]): Promise<EndPiece> {
    const { agent, request, signal } = this.#asked
    const { clock, random, deadlines } = this.#parts
    const { models, outputTokensMax } = agent
    const pieces = callModel(
      models,
      { messages, tools, outputTokensMax, cacheKey: request.sessionId },
      { purpose: 'turn', signal, deadlines, clock, random },
    )
    let model = models[0]
    let startedAt = clock.monotonic()
    for await (const piece of pieces) {
      this.#called = calledRoute(model.route)
      if (piece.kind === 'end') {
        this.#record(model, piece, startedAt)
        this.#learn(model, piece, messages)
        return piece
      }
      if (piece.kind === 'retry') {
        this.#record(model, { outcome: piece.after }, startedAt)
        this.#void()
        // An immediate retry needs no notice.
        if (piece.delayMs > 0) this.#announceRetry(piece)
        model = models.find(({ route }) => route.name === piece.route) ?? model
        startedAt = clock.monotonic()
      } else this.#emit(piece)
    }
    throw new Error('A model stream ended without its end.')
  }

  #announceRetry({ after, delayMs }: Extract<StreamPiece, { kind: 'retry' }>): void {
    const text = quoteOutcome(after, this.#called)
    const nextTryAt = Math.round(this.#parts.clock.now() + delayMs)
    this.#parts.onPiece?.(this.#attempt, { kind: 'retry', text, nextTryAt })
  }

  #emit(piece: StreamPiece): void {
    const { onPiece } = this.#parts
    if (onPiece === undefined) return
    this.#hasEmitted = true
    if (piece.kind === 'text' || piece.kind === 'reasoning') {
      onPiece(this.#attempt, { kind: piece.kind, text: piece.text })
    } else if (piece.kind === 'call') {
      onPiece(this.#attempt, { kind: 'call', callId: piece.id, tool: piece.name })
    }
  }

  #void(): void {
    this.#parts.onPiece?.(this.#attempt, { kind: 'void' })
    this.#number = this.#asked.nextAttempt()
    this.#hasEmitted = false
  }

  get #attempt(): LiveAttempt {
    const { sessionId, turn, upto, fence } = this.#asked.request
    return { sessionId, turn, step: upto, attempt: `${fence}-${this.#number}` }
  }

  #record(model: Model, end: Pick<EndPiece, 'outcome' | 'usage'>, startedAt: number): void {
    const { clock, onCall } = this.#parts
    const { outcome, usage } = end
    onCall?.({
      ...this.#attempt,
      agent: this.#asked.request.agent,
      route: model.route,
      outcome,
      ...(usage !== undefined && { usage }),
      durationMs: Math.round(clock.monotonic() - startedAt),
      at: clock.now(),
    })
  }

  #learn(model: Model, { contextTokens }: EndPiece, messages: readonly Message[]): void {
    if (contextTokens === undefined) return
    const { request, calibrations } = this.#asked
    const estimated = this.#estimate(messages)
    const { model: name } = model.route
    calibrations.observe(request.sessionId, { model: name, estimated, reported: contextTokens })
  }

  #count(message: AssistantMessage): number {
    const { agent, request, calibrations } = this.#asked
    return calibrations.correct(request.sessionId, agent.countMessage(message))
  }
}

const ASKS_MAX = 2
const EMPTY: AssistantMessage = { role: 'assistant', parts: [] }

function sumUpMessage(steps: number): UserMessage {
  const text = [
    `This turn has taken ${steps} steps, which is its limit; no further tool can be called in it.`,
    'Tell the person where things stand: what is done, what is still open, and what you would do next.',
  ].join(' ')
  return { role: 'user', synthetic: true, parts: [{ type: 'text', text }] }
}
