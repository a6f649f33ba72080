import type { SessionId } from '../base/ids.ts'
import { checkString } from '../base/option-checks.ts'
import { Recent } from '../base/recent.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import type { Message } from '../message/message.ts'
import { loadParts } from '../session/blobs.ts'
import type { EventHub } from '../session/events/event-hub.ts'
import type { StepOutcome, StepRequest, StepRunner } from '../session/step.ts'
import type { OpenAgentOptions } from './agent-types.ts'
import {
  callListener,
  mayRetry,
  overflowIn,
  textOfError,
  untilAborted,
  withDeadline,
} from './attempt.ts'
import { readReply } from './read-reply.ts'
import { StepSlots } from './step-slots.ts'
import type { AnyFormat, RequestFor } from './typed-formats/format.ts'
import { internalsOf } from './typed-formats/format.ts'

const TIMEOUT_MS = 600_000
const CONCURRENCY = 16
const ATTEMPTS = 5
/** Far more steps than ever fail at the same time. */
const COUNTED_MAX = 10_000

const INTERRUPTED: StepOutcome = { kind: 'interrupted', message: null, tokens: 0 }

/**
 * Runs the program's `step`: its slot, its deadline, its attempts, and the text that it streamed.
 */
export class AgentSteps<F extends AnyFormat> implements StepRunner {
  readonly #options: OpenAgentOptions<F>
  readonly #hub: EventHub
  readonly #request: (context: readonly Message[]) => RequestFor<F>
  readonly #count: (message: Message) => number
  readonly #slots: StepSlots
  /** Attempts at each step that failed so far. */
  readonly #failed = new Recent<string, number>(COUNTED_MAX)

  constructor(
    options: OpenAgentOptions<F>,
    parts: {
      readonly hub: EventHub
      readonly request: (context: readonly Message[]) => RequestFor<F>
      readonly count: (message: Message) => number
    },
  ) {
    this.#options = options
    this.#hub = parts.hub
    this.#request = parts.request
    this.#count = parts.count
    this.#slots = new StepSlots(options.concurrency ?? CONCURRENCY)
  }

  async run(request: StepRequest, lease: AbortSignal): Promise<StepOutcome> {
    try {
      const free = await this.#slots.take(lease)
      try {
        return await this.#attempt(request, lease)
      } finally {
        free()
        this.#hub.endAttempt(request.sessionId)
      }
    } catch (error) {
      if (lease.aborted) return INTERRUPTED
      throw error
    }
  }

  async #attempt(request: StepRequest, lease: AbortSignal): Promise<StepOutcome> {
    const { sessionId, turn, upto, fence } = request
    const step = `${sessionId} ${upto}`
    const attempt = (this.#failed.get(step) ?? 0) + 1
    const live = { turn, step: upto, attempt: `${fence}-${upto}-${attempt}` }
    const timeoutMs = this.#options.stepTimeoutMs ?? TIMEOUT_MS
    const deadline = withDeadline(lease, timeoutMs)
    const { signal } = deadline
    let hasShown = false
    const delta = (text: string) => {
      checkString('delta', text ?? null)
      if (signal.aborted || isOver || text === '') return
      hasShown = true
      this.#hub.publish(sessionId, { kind: 'delta', text, ...live })
    }
    let isOver = false
    try {
      const context = await loadParts(this.#options.store, sessionId, request.context)
      const given = { sessionId, turn, attempt, request: this.#request(context), signal, delta }
      const reply = await untilAborted(() => this.#options.step(given), signal)
      const message = readReply(internalsOf(this.#options.format), reply)
      this.#failed.delete(step)
      return { kind: 'replied', message, tokens: this.#count(message) }
    } catch (error) {
      if (hasShown) this.#hub.publish(sessionId, { kind: 'void', ...live })
      if (lease.aborted) return INTERRUPTED
      const late = `"step" did not answer within ${timeoutMs} ms.`
      return this.#failure(
        deadline.isOver() ? new ThroughlineError('step-timeout', late, { retryable: true }) : error,
        { sessionId, turn, attempt, step },
      )
    } finally {
      isOver = true
      deadline.end()
    }
  }

  #failure(
    error: unknown,
    { step, ...where }: { sessionId: SessionId; turn: number; attempt: number; step: string },
  ): StepOutcome {
    const { onError, retry = {} } = this.#options
    const told = callListener(textOfError(error), 'onError', () => onError?.(error, where))
    const overflow = overflowIn(error)
    if (overflow !== undefined) return overflow
    const { attempts = ATTEMPTS, isRetryable = mayRetry } = retry
    let retryable = false
    const reason = callListener(told, 'isRetryable', () => {
      retryable = where.attempt < attempts && isRetryable(error)
    })
    if (retryable) this.#failed.set(step, where.attempt)
    else this.#failed.delete(step)
    return { kind: 'failed', reason, retryable }
  }
}
