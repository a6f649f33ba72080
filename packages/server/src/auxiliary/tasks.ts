import type { Clock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import { redact } from '#core/compaction/redact/redact'
import type { AssistantMessage } from '#core/message/message'
import { estimateMessage } from '#core/tokens/estimate'
import { familyOf } from '#core/tokens/family'
import { callModel } from '../model/calls/call.ts'
import type { Deadlines } from '../model/connections/deadlines.ts'
import type { CallUsage, EndPiece, Model, ModelRequest } from '../model/model.ts'
import { type Outcome, prospectOf } from '../model/outcomes/outcome.ts'
import type { ModelRoute } from '../model/routes/route.ts'
import { ALLOWANCE, Allowance, type AllowanceLimits, type Exceeded } from './allowance.ts'
import {
  type Attempt,
  type Attempts,
  addSpend,
  attemptOf,
  type CallFacts,
  NOTHING_SPENT,
  type Spend,
  spendOf,
} from './attempts.ts'
import { ANSWERED, INTERRUPTED, wordOf } from './breaker.ts'
import { maskMessages } from './mask.ts'
import { costOf, type Prices } from './prices.ts'
import { RouteStates } from './route-states.ts'
import { settingsOf, type TaskOverrides, type TaskSettings } from './task.ts'

/**
 * All auxiliary model calls of a process, so that budget and paused routes apply to all agents
 * together. Each call has its own deadlines, its own abort and, if its task is shielded, its own
 * shield. A person's interrupt gets its outcome at once; the signal of a call aborts only for
 * shutdown or a lost lease.
 *
 * Always true: every call has an outcome and none rejects; secrets of known shapes are masked in
 * requests and answers; every call is recorded with its cost.
 */
export class AuxiliaryTasks {
  readonly #parts: AuxiliaryTasksParts
  readonly #allowance: Allowance
  readonly #states: RouteStates
  readonly #running = new Set<TaskRun & { readonly task: string; readonly sessionId: SessionId }>()
  readonly #closing = new AbortController()

  constructor(parts: AuxiliaryTasksParts) {
    this.#parts = parts
    this.#allowance = new Allowance(parts.attempts, parts.allowance ?? ALLOWANCE)
    this.#states = new RouteStates(parts.attempts, parts.clock)
  }

  settingsOf(task: string): TaskSettings {
    return settingsOf(task, this.#parts.tasks ?? {})
  }

  /** The outcome; never rejects. */
  run(task: string, request: TaskRequest, options: TaskOptions): Promise<TaskOutcome> {
    return this.start(task, request, options).outcome
  }

  start(task: string, request: TaskRequest, options: TaskOptions): TaskRun {
    const controller = new AbortController()
    const { onInterrupt } = this.settingsOf(task)
    let isOver = false
    const signal = AbortSignal.any([options.signal, controller.signal, this.#closing.signal])
    const outcome = this.#call(task, request, { ...options, signal }).finally(() => {
      isOver = true
      this.#running.delete(run)
    })
    const run = {
      task,
      sessionId: options.sessionId,
      outcome,
      interrupt: (): Interruption => {
        if (isOver) return 'over'
        if (onInterrupt === 'defer') return 'deferred'
        controller.abort()
        return 'stopped'
      },
    }
    this.#running.add(run)
    return run
  }

  /**
   * Handles a person's interrupt of a session; returns the outcome for each of its tasks at once.
   */
  interrupt(
    sessionId: SessionId,
  ): readonly { readonly task: string; readonly answer: Interruption }[] {
    return [...this.#running]
      .filter((run) => run.sessionId === sessionId)
      .map((run) => ({ task: run.task, answer: run.interrupt() }))
  }

  /** Ends everything, shielded or not, and waits until it has ended. May be called twice. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#running].map((run) => run.outcome))
  }

  async #call(task: string, request: TaskRequest, options: TaskOptions): Promise<TaskOutcome> {
    const { prices, clock, report } = this.#parts
    const { routes, sessionId } = options
    const { deadlines, outputTokensMax: usual } = this.settingsOf(task)
    const outputTokensMax = Math.min(request.outputTokensMax ?? usual, usual)
    const inputTokens = estimateInput(request, routes[0])
    const usage = { inputTokens, outputTokens: outputTokensMax }

    const tried = await this.#states.enter(task, routes, sessionId)
    if (tried.kind === 'resting') {
      return { kind: 'failed', reason: COOLING_DOWN, retryAt: tried.until, spend: NOTHING_SPENT }
    }
    const expected = {
      sessionId,
      tokens: inputTokens + outputTokensMax,
      cost: costOf(usage, tried.routes[0], prices) ?? 0,
    }
    const reserved = await this.#allowance.reserve(expected, clock.now())
    if (reserved.kind === 'exceeded') {
      tried.leave()
      report?.({ kind: 'budget-spent', task, sessionId, which: reserved.which })
      return { kind: 'failed', reason: `budget-spent:${reserved.which}`, spend: NOTHING_SPENT }
    }
    try {
      return await this.#converse(
        task,
        { ...request, outputTokensMax },
        {
          ...options,
          routes: tried.routes,
          deadlines: { ...deadlines, ...options.deadlines },
          inputTokens,
        },
      )
    } finally {
      reserved.release()
      tried.leave()
    }
  }

  async #converse(
    task: string,
    { isVerbatim, isMasked, ...request }: TaskRequest,
    options: CallTerms,
  ): Promise<TaskOutcome> {
    const { clock, random, openModel } = this.#parts
    const { routes, signal, deadlines, isFresh, read = textOfReply } = options
    const [first, ...others] = routes
    const messages = isVerbatim || isMasked ? request.messages : maskMessages(request.messages)
    const stream = callModel(
      [openModel(first), ...others.map(openModel)],
      { ...request, messages },
      { purpose: task, signal, deadlines, clock, random, ...(isFresh && { isFresh }) },
    )
    const records: Promise<Spend>[] = []
    const record = (route: ModelRoute, outcome: string, usage?: CallUsage) =>
      records.push(this.#record({ task, route, outcome, usage, sessionId: options.sessionId }))
    let route = first
    let end: EndPiece | undefined
    for await (const piece of stream) {
      if (piece.kind === 'end') end = piece
      // One record for each route that a call gave up, however many attempts it made there.
      if (piece.kind !== 'retry' || piece.route === route.name) continue
      record(route, wordOf(piece.after))
      route = routes.find(({ name }) => name === piece.route) ?? route
    }
    const outcome: Outcome = end?.outcome ?? { kind: 'malformed', what: 'no-end' }
    const text = end?.reply == null ? '' : redact(read(end.reply)).trim()
    const isRead = outcome.kind === 'finished' && READABLE.includes(outcome.finish) && text !== ''
    const reason = isRead ? ANSWERED : reasonOf(outcome)
    record(route, reason, end?.usage ?? unreported(outcome, options.inputTokens))
    const spend = (await Promise.all(records)).reduce(addSpend, NOTHING_SPENT)
    if (isRead) return { kind: 'answered', text, route, spend }
    if (reason === INTERRUPTED) return { kind: 'interrupted', spend }
    return { kind: 'failed', reason, outcome, spend }
  }

  /** Never rejects: a failed record must not lose the answer. */
  async #record(facts: Omit<CallFacts, 'at'>): Promise<Spend> {
    const { attempts, clock, prices, report } = this.#parts
    const { task, sessionId } = facts
    const attempt = attemptOf({ ...facts, at: clock.now() }, prices)
    report?.({ kind: 'attempt', attempt })
    try {
      await attempts.record(attempt)
    } catch {
      report?.({ kind: 'record-lost', task, sessionId })
    }
    return spendOf(attempt)
  }
}

export interface AuxiliaryTasksParts {
  readonly openModel: (route: ModelRoute) => Model
  readonly attempts: Attempts
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  readonly tasks?: TaskOverrides
  readonly allowance?: AllowanceLimits
  readonly prices?: Prices
  readonly report?: (notice: TaskNotice) => void
}

export interface TaskRequest extends ModelRequest {
  /** Sent unchanged. The caller has made sure that it contains no secret. */
  readonly isVerbatim?: boolean
  /** The caller has masked it. */
  readonly isMasked?: boolean
}

export interface TaskOptions {
  readonly sessionId: SessionId
  /** Ends the call even if it is shielded. */
  readonly signal: AbortSignal
  readonly routes: readonly [ModelRoute, ...ModelRoute[]]
  readonly deadlines?: Partial<Deadlines>
  readonly isFresh?: true
  /** The answer in the reply; by default its text. */
  readonly read?: (reply: AssistantMessage) => string
}

interface CallTerms extends TaskOptions {
  readonly deadlines: Deadlines
  readonly inputTokens: number
}

export interface TaskRun {
  readonly outcome: Promise<TaskOutcome>
  interrupt(): Interruption
}

/** `deferred`: the call continues, and the interrupt is handled afterwards. */
export type Interruption = 'stopped' | 'deferred' | 'over'

export type TaskOutcome =
  | {
      readonly kind: 'answered'
      readonly text: string
      readonly route: ModelRoute
      readonly spend: Spend
    }
  | { readonly kind: 'interrupted'; readonly spend: Spend }
  | {
      readonly kind: 'failed'
      /** A fixed word, for scripts and records. */
      readonly reason: string
      readonly outcome?: Outcome
      /** When a retry may succeed, if known. */
      readonly retryAt?: number
      readonly spend: Spend
    }

/** Published: ids, counts and fixed words. */
export type TaskNotice =
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  | {
      readonly kind: 'budget-spent'
      readonly task: string
      readonly sessionId: SessionId
      readonly which: Exceeded
    }
  | { readonly kind: 'record-lost'; readonly task: string; readonly sessionId: SessionId }

/** Every route is paused. */
export const COOLING_DOWN = 'cooling-down'

// Providers end their own compactions with their own finish reasons.
const READABLE: readonly string[] = ['stop', 'other']

function reasonOf(outcome: Outcome): string {
  const word = wordOf(outcome)
  return word === ANSWERED ? 'unusable:empty' : word
}

export function textOfReply({ parts }: AssistantMessage): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function estimateInput({ messages }: TaskRequest, { model }: ModelRoute): number {
  const family = familyOf(model)
  return messages.reduce((sum, message) => sum + estimateMessage(message, family), 0)
}

/** The provider bills a cut-off call but does not report its usage. */
function unreported(outcome: Outcome, inputTokens: number): CallUsage | undefined {
  const wasRead =
    outcome.kind === 'deadline'
      ? outcome.deadline !== 'connect'
      : prospectOf(outcome) === 'done' || outcome.kind === 'malformed'
  return wasRead ? { inputTokens, outputTokens: 0 } : undefined
}
