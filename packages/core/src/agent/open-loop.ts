import { checkKeys } from '../base/option-checks.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import { openAgent } from './agent.ts'
import { LOOP_OPTIONS } from './agent-settings.ts'
import type { AgentStep, DurableAgent, OpenAgentOptions } from './agent-types.ts'
import type { AnyFormat, ReplyOf } from './typed-formats/format.ts'

export interface LoopStep<F extends AnyFormat> extends AgentStep<F> {
  /** The library's response. Once: a second call throws `already-replied`. */
  reply(response: ReplyOf<F>): void
  /** Reports a failure. Call it once, instead of `reply`. */
  fail(error: unknown): void
}

export interface Loop<F extends AnyFormat> extends DurableAgent<F> {
  /**
   * Each `for await` over it is one worker, as many as you like; a step goes to exactly one of
   * them. If a worker leaves before it replies, another gets the step. Ends when the loop closes.
   */
  steps(): AsyncIterableIterator<LoopStep<F>>
}

/**
 * An agent whose steps are pulled, for programs that keep their own loop:
 *
 * ```ts
 * for await (const step of loop.steps()) step.reply(await askModel(step.request, step.signal))
 * ```
 */
export async function openLoop<F extends AnyFormat>(
  options: Omit<OpenAgentOptions<F>, 'step'>,
): Promise<Loop<F>> {
  checkKeys(options, LOOP_OPTIONS)
  const queue = new StepQueue<F>()
  const agent = await openAgent<F>({ ...options, step: (step) => queue.offer(step) })
  const close = async () => {
    queue.close()
    await agent.close()
  }
  return {
    name: agent.name,
    session: (id) => agent.session(id),
    sessions: (query) => agent.sessions(query),
    search: (text, query) => agent.search(text, query),
    steps: () => queue.worker(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

class StepQueue<F extends AnyFormat> {
  readonly #waiting = new Set<LoopStep<F>>()
  readonly #idle = new Set<() => void>()
  readonly #isReplied = new WeakSet<LoopStep<F>>()
  #isClosed = false

  offer(step: AgentStep<F>): Promise<ReplyOf<F>> {
    const { promise, resolve, reject } = Promise.withResolvers<ReplyOf<F>>()
    const once = () => {
      if (this.#isReplied.has(offered)) {
        throw new ThroughlineError(
          'already-replied',
          `This step of the session "${step.sessionId}" was answered before. Call reply or fail once.`,
        )
      }
      this.#isReplied.add(offered)
    }
    const offered: LoopStep<F> = {
      ...step,
      reply: (response) => {
        once()
        resolve(response)
      },
      fail: (error) => {
        once()
        reject(error)
      },
    }
    this.#waiting.add(offered)
    // The answer is no longer needed: a worker would call the model in vain.
    step.signal.addEventListener('abort', () => this.#waiting.delete(offered), { once: true })
    this.#wakeOne()
    return promise
  }

  async *worker(): AsyncGenerator<LoopStep<F>> {
    while (!this.#isClosed) {
      const step = this.#take()
      if (step === undefined) {
        await new Promise<void>((resolve) => this.#idle.add(resolve))
        continue
      }
      let isBack = false
      try {
        yield step
        isBack = true
      } finally {
        if (!isBack && !this.#isReplied.has(step)) step.fail(leftError())
      }
    }
  }

  close(): void {
    this.#isClosed = true
    for (const wake of this.#idle) wake()
    this.#idle.clear()
  }

  #take(): LoopStep<F> | undefined {
    for (const step of this.#waiting) {
      this.#waiting.delete(step)
      return step
    }
    return undefined
  }

  #wakeOne(): void {
    for (const wake of this.#idle) {
      this.#idle.delete(wake)
      wake()
      return
    }
  }
}

function leftError(): ThroughlineError {
  return new ThroughlineError(
    'reply-missing',
    'The worker left its loop before it replied to this step.',
    { retryable: true },
  )
}
