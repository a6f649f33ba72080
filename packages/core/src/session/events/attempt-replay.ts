import type { SessionId } from '../../base/ids.ts'
import type { AttemptId, LiveEvent, RuntimeEvent } from './runtime-event.ts'

/**
 * The events of the running attempt of each session so far, for a listener that joins in the
 * middle: a `void` first, then all events from the beginning, so that a listener that already has a
 * part gets no text twice. The replay ends with its step, before the commit, so none of these
 * events is stored yet.
 */
export type AttemptEvent = Exclude<LiveEvent, { kind: 'notice' }>

/**
 * Far more than a model writes at once. Of a longer attempt only the start is kept: a late listener
 * misses the middle until its entry arrives.
 */
const CHARACTERS_MAX = 1_000_000
/** The size of an event beside its text, which bounds the number of alternating pieces. */
const EVENT_CHARACTERS = 100

interface Unfinished {
  readonly attempt: string
  /** Consecutive events of one kind are merged. */
  readonly events: AttemptEvent[]
  characters: number
}

export class RunningAttempts {
  readonly #bySession = new Map<SessionId, Unfinished>()

  note(sessionId: SessionId, event: AttemptEvent): void {
    const { turn, step, attempt } = event
    const known = this.#bySession.get(sessionId)
    const isKnown = known?.attempt === attempt
    if (event.kind === 'void') {
      if (isKnown) this.end(sessionId)
      return
    }
    const begun = {
      attempt,
      events: [{ kind: 'void', turn, step, attempt } as const],
      characters: 0,
    }
    const unfinished: Unfinished = isKnown ? known : begun
    this.#bySession.set(sessionId, unfinished)
    unfinished.characters += 'text' in event ? event.text.length : event.tool.length
    if (unfinished.characters > CHARACTERS_MAX) return
    const last = unfinished.events.at(-1)
    if (last !== undefined && 'text' in last && 'text' in event && last.kind === event.kind) {
      unfinished.events[unfinished.events.length - 1] = { ...last, text: last.text + event.text }
      return
    }
    unfinished.characters += EVENT_CHARACTERS
    unfinished.events.push(event)
  }

  end(sessionId: SessionId): void {
    this.#bySession.delete(sessionId)
  }

  has(sessionId: SessionId): boolean {
    return this.#bySession.has(sessionId)
  }

  /** Of one session, or of all if `only` is undefined. */
  replay(only: SessionId | undefined): readonly RuntimeEvent[] {
    return [...this.#bySession]
      .filter(([sessionId]) => only === undefined || only === sessionId)
      .flatMap(([sessionId, { events }]) =>
        events.map((event): RuntimeEvent => ({ type: 'live', sessionId, ...event })),
      )
  }
}

/** The same for every repetition of a notice; null: not a notice. */
export function noticeName(event: RuntimeEvent): string | null {
  if (event.type !== 'live' || event.kind !== 'notice') return null
  const which = event.isUpdate === true ? ` ${event.nextTryAt}` : ''
  return `${event.sessionId} ${event.turn} ${event.code}${which}`
}

const ENDS: readonly string[] = ['step committed', 'turn ended']

/**
 * The attempts that a listener has received in part, which a missed piece invalidates, and the
 * notices it got, so that it gets none twice.
 */
export class ReceivedAttempts {
  readonly #bySession = new Map<SessionId, AttemptId>()
  readonly #notices = new Map<SessionId, Set<string>>()

  knows(event: RuntimeEvent): boolean {
    const name = noticeName(event)
    if (event.type === 'caught-up' || name === null) return false
    return this.#notices.get(event.sessionId)?.has(name) === true
  }

  note(event: RuntimeEvent): void {
    if (event.type === 'caught-up') return
    const { sessionId } = event
    const name = noticeName(event)
    if (name !== null) {
      const known = this.#notices.get(sessionId) ?? new Set()
      this.#notices.set(sessionId, known.add(name))
    }
    if (event.kind === 'notice') return
    if (event.kind === 'turn ended') this.#notices.delete(sessionId)
    if (event.type === 'stored') {
      if (ENDS.includes(event.kind)) this.#bySession.delete(sessionId)
    } else if (event.kind === 'void') this.#bySession.delete(sessionId)
    else {
      const { turn, step, attempt } = event
      this.#bySession.set(sessionId, { turn, step, attempt })
    }
  }

  takeBack(): readonly RuntimeEvent[] {
    const all = [...this.#bySession]
    this.#bySession.clear()
    return all.map(([sessionId, id]) => ({ type: 'live', sessionId, kind: 'void', ...id }))
  }
}
