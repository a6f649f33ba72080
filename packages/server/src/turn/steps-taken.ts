import type { SessionId } from '#core/base/ids'
import { Recent } from '#core/base/recent'
import type { Message } from '#core/message/message'
import type { StepRequest } from '#core/session/step'

/**
 * How many steps a turn has taken, counted from the context, so that it survives a restart: a reply
 * with calls is a step of the running turn, a reply without calls ended a turn, and a person's
 * message resets the count. A notification does not: a watch that fires at every step would make a
 * turn endless.
 */
export function stepsTaken(context: readonly Message[]): {
  readonly steps: number
  /** False: the turn began before the verbatim part of the context. */
  readonly isWhole: boolean
} {
  let steps = 0
  for (let index = context.length - 1; index >= 0; index--) {
    const message = context[index]
    if (message?.role === 'handoff') return { steps, isWhole: false }
    if (message?.role === 'user' && message.synthetic !== true) break
    if (message?.role !== 'assistant') continue
    if (!message.parts.some((part) => part.type === 'tool-call')) break
    steps++
  }
  return { steps, isWhole: true }
}

/** More than one process can have in a turn; about 100 bytes each. */
const SESSIONS_MAX = 100_000

/** Remembers steps that a compaction in the middle of a turn removes from the context. */
export class StepCounts {
  readonly #known = new Recent<SessionId, { readonly turn: number; readonly steps: number }>(
    SESSIONS_MAX,
  )

  taken({ sessionId, turn, context }: StepRequest): number {
    const { steps, isWhole } = stepsTaken(context)
    const known = this.#known.get(sessionId)
    const before = known?.turn === turn ? known.steps + 1 : 0
    return isWhole ? steps : Math.max(steps, before)
  }

  /** Called only when the step was answered, because a failed step is repeated. */
  note({ sessionId, turn }: StepRequest, steps: number): void {
    this.#known.set(sessionId, { turn, steps })
  }
}
