import type { SessionId } from '../../base/ids.ts'
import type { AttemptId, LiveEvent, RuntimeEvent } from './runtime-event.ts'

/**
 * What the running attempt of each session has events so far, for whoever begins to listen in the
 * middle of it: taken back first and events again from its beginning, so that a listener who knows a
 * part of it has no word twice. It ends with its step, before that is committed: what is events here
 * was never stored.
 */
export type AttemptEvent = Exclude<LiveEvent, { kind: 'notice' }>

/**
 * Far above what a model writes in one go. Of a longer attempt its beginning is kept: who comes late
 * has a hole in the middle of it until its entry is there.
 */
const CHARACTERS_MAX = 1_000_000
/** What an event takes beside its text: pieces that alternate must not become a million of them. */
const EVENT_CHARACTERS = 100

interface Unfinished {
  readonly attempt: string
  /** Neighbours of one kind are one. */
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

  /** Of one session, or of all. */
  replay(only: SessionId | undefined): readonly RuntimeEvent[] {
    return [...this.#bySession]
      .filter(([sessionId]) => only === undefined || only === sessionId)
      .flatMap(([sessionId, { events }]) =>
        events.map((event): RuntimeEvent => ({ type: 'live', sessionId, ...event })),
      )
  }
}

/** The same for every telling of a notice; null: it is none. */
export function noticeName(event: RuntimeEvent): string | null {
  if (event.type !== 'live' || event.kind !== 'notice') return null
  const which = event.isUpdate === true ? ` ${event.nextTryAt}` : ''
  return `${event.sessionId} ${event.turn} ${event.code}${which}`
}

const ENDS: readonly string[] = ['step committed', 'turn ended']

/**
 * Which attempts one listener knows a part of: what it misses of them makes that part worthless. And
 * what it was events that a turn waits for: nobody is events that twice.
 */
export class Heard {
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
