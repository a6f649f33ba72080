import { type Clock, pause } from '../../base/clock.ts'
import { KnownError } from '../../base/errors.ts'
import type { SessionId } from '../../base/ids.ts'
import type { Logger } from '../../base/logger.ts'
import { LIST_MAX } from '../../store/bounds.ts'
import type { Store } from '../../store/contract.ts'
import type { AuditRow, StoreRow } from '../../store/tables/rows.ts'
import { noticeName, ReceivedAttempts, RunningAttempts } from './attempt-replay.ts'
import type { CurrentNotice, EventQuery, LiveEvent, RuntimeEvent } from './runtime-event.ts'

/**
 * Publishes events to listeners. The store's audit rows are authoritative: each has a cursor, and a
 * listener that resumes from its last cursor misses none. They are read once for all listeners. A
 * listener that falls behind loses live events and reads the stored ones itself; events of
 * unfinished attempts are withdrawn. A new or returning listener gets the running attempts from
 * their beginning, and the notices of waiting turns, once.
 */
const QUEUE_MAX = 1_000
/** How often an unreadable store is read again; listeners do not notice. */
const ASK_AGAIN_MS = 1_000

interface HubParts {
  readonly store: Pick<Store, 'readAudit' | 'readStore' | 'watch'>
  readonly clock: Clock
  readonly logger: Logger
  /** Of one session, or of all if `only` is undefined. */
  readonly readWaitNotices: (only: SessionId | undefined) => Promise<readonly CurrentNotice[]>
}

interface Listener {
  readonly sessionId: SessionId | undefined
  queue: RuntimeEvent[]
  queueMax: number
  /** Reads from the store instead of the live queue. */
  isBehind: boolean
  /** Has received the text of the running attempts so far, and gets the rest live. */
  hearsAttempts: boolean
  wake: () => void
}

type StoredEvent = Extract<RuntimeEvent, { type: 'stored' }>

function newListener(
  sessionId: SessionId | undefined,
  { isBehind }: Pick<Listener, 'isBehind'>,
): Listener {
  const calm = { queueMax: QUEUE_MAX, hearsAttempts: false, wake: () => {} }
  return { sessionId, queue: [], isBehind, ...calm }
}

function woken(listener: Listener): Promise<void> {
  return new Promise((resolve) => {
    listener.wake = resolve
  })
}

export class EventHub {
  readonly #store: HubParts['store']
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #readWaitNotices: HubParts['readWaitNotices']
  /** By session, so that an event costs nothing to those who listen to others; undefined: all. */
  readonly #listeners = new Map<SessionId | undefined, Set<Listener>>()
  readonly #attempts = new RunningAttempts()
  #unwatch: (() => void) | null = null
  #cursor = 0
  #isReading = false
  #isHinted = false
  #isSilent = false

  constructor(parts: HubParts) {
    this.#store = parts.store
    this.#clock = parts.clock
    this.#logger = parts.logger
    this.#readWaitNotices = parts.readWaitNotices
  }

  /** Whether a new listener hears everything from the moment it asks, without a read. */
  get isListening(): boolean {
    return this.#listeners.size > 0
  }

  publish(sessionId: SessionId, event: LiveEvent): void {
    if (event.kind !== 'notice') this.#attempts.note(sessionId, event)
    const live: RuntimeEvent = { type: 'live', sessionId, ...event }
    this.#tell(sessionId, live)
  }

  /** Its text is about to be committed, so it is no longer published as provisional. */
  endAttempt(sessionId: SessionId): void {
    this.#attempts.end(sessionId)
  }

  async *events(query: EventQuery, signal: AbortSignal): AsyncGenerator<RuntimeEvent> {
    const listener = newListener(query.sessionId, { isBehind: true })
    const onAbort = () => listener.wake()
    signal.addEventListener('abort', onAbort)
    try {
      const row = await this.#add(listener, signal)
      if (row === null) return
      const { id: store, commits: newest } = row
      // A cursor from beyond the end belongs to another store, or to one that was restored since.
      let cursor = Math.min(query.after ?? newest, newest)
      const heard = new ReceivedAttempts()
      let isNew = true
      while (!signal.aborted) {
        if (listener.isBehind) {
          // From here on events are queued, so none is lost between reading and publishing.
          listener.isBehind = false
          listener.hearsAttempts = false
          listener.queue = []
          yield* heard.takeBack()
          for (let isMore = true; isMore && !signal.aborted; ) {
            const rows = await this.#ask(() => this.#read(cursor, query.sessionId), signal)
            if (rows === null) return
            for (const row of rows) {
              yield storedEvent(row)
              cursor = row.cursor
            }
            isMore = rows.length === LIST_MAX
          }
          const notices = await this.#ask(() => this.#readWaitNotices(query.sessionId), signal)
          if (notices === null) return
          // All at once and after the stored events, so that no text comes after the commit of its
          // step. A turn that writes is no longer waiting. Notices come before the events queued
          // while they were read, because those may include the end of the waiting turn.
          const queued = new Set(listener.queue.map(noticeName))
          const current = notices
            .filter(({ sessionId }) => !this.#attempts.has(sessionId))
            .map((wait): RuntimeEvent => ({ type: 'live', ...wait }))
            .filter((wait) => !heard.knows(wait) && !queued.has(noticeName(wait)))
          const written = this.#attempts.replay(query.sessionId)
          listener.queue = [...current, ...listener.queue, ...written]
          // There may be many running attempts; sent at once, they do not make a listener fall
          // behind again.
          listener.queueMax = listener.queue.length + QUEUE_MAX
          listener.hearsAttempts = true
          if (isNew && !signal.aborted) yield { type: 'caught-up', cursor, store }
          isNew = false
        }
        for (let event = listener.queue.shift(); event; event = listener.queue.shift()) {
          if (event.type === 'stored') {
            if (event.cursor <= cursor) continue
            cursor = event.cursor
          }
          heard.note(event)
          yield event
          if (signal.aborted) return
        }
        if (!listener.isBehind && !signal.aborted) await woken(listener)
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#remove(listener)
    }
  }

  /**
   * The stored events of one session from now on, for those who read the state themselves: null says
   * when to read it, first of all and whenever events may have been missed.
   */
  async *news(sessionId: SessionId, signal: AbortSignal): AsyncGenerator<StoredEvent | null> {
    const listener = newListener(sessionId, { isBehind: false })
    const onAbort = () => listener.wake()
    signal.addEventListener('abort', onAbort)
    try {
      if (this.isListening) this.#listen(listener)
      else await this.#add(listener, signal)
      yield null
      while (!signal.aborted) {
        if (listener.isBehind) {
          listener.isBehind = false
          if ((await this.#ask(() => this.#store.readStore(), signal)) === null) return
          yield null
        }
        for (let event = listener.queue.shift(); event; event = listener.queue.shift()) {
          if (event.type === 'stored') yield event
          if (signal.aborted) return
        }
        if (!listener.isBehind && !signal.aborted) await woken(listener)
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#remove(listener)
    }
  }

  async #add(listener: Listener, signal: AbortSignal): Promise<StoreRow | null> {
    const row = await this.#ask(() => this.#store.readStore(), signal)
    if (row === null) return null
    if (this.#listeners.size === 0) {
      this.#cursor = row.commits
      this.#unwatch ??= this.#store.watch(() => void this.#pump())
    }
    this.#listen(listener)
    return row
  }

  #listen(listener: Listener): void {
    const { sessionId } = listener
    const beside = this.#listeners.get(sessionId) ?? new Set()
    this.#listeners.set(sessionId, beside.add(listener))
  }

  #remove(listener: Listener): void {
    const { sessionId } = listener
    const beside = this.#listeners.get(sessionId)
    beside?.delete(listener)
    if (beside?.size === 0) this.#listeners.delete(sessionId)
    if (this.#listeners.size > 0) return
    this.#unwatch?.()
    this.#unwatch = null
  }

  /** Publishes the events stored since the last time; one reader at a time. */
  async #pump(): Promise<void> {
    this.#isHinted = true
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#isHinted && this.#listeners.size > 0) {
        this.#isHinted = false
        const rows = await this.#read(this.#cursor, undefined)
        for (const row of rows) this.#tell(row.sessionId, storedEvent(row))
        this.#cursor = rows.at(-1)?.cursor ?? this.#cursor
        if (rows.length === LIST_MAX) this.#isHinted = true
      }
    } catch {
      // The store cannot be read now: each listener reads for itself once it can.
      for (const beside of this.#listeners.values()) {
        for (const listener of beside) this.#fallBehind(listener)
      }
    } finally {
      this.#isReading = false
    }
  }

  /** Null: there are no listeners left. Throws errors that a retry cannot fix. */
  async #ask<Answer>(read: () => Promise<Answer>, signal: AbortSignal): Promise<Answer | null> {
    while (!signal.aborted) {
      try {
        const answer = await read()
        if (this.#isSilent) this.#logger.info({}, 'events can be read again')
        this.#isSilent = false
        return answer
      } catch (error) {
        if (!(error instanceof KnownError) || !error.retryable) throw error
        if (!this.#isSilent) this.#logger.warn({ code: error.code }, 'events cannot be read')
        this.#isSilent = true
      }
      await pause(this.#clock, ASK_AGAIN_MS, signal)
    }
    return null
  }

  #tell(sessionId: SessionId, event: RuntimeEvent): void {
    for (const listener of this.#listeners.get(sessionId) ?? []) this.#notify(listener, event)
    for (const listener of this.#listeners.get(undefined) ?? []) this.#notify(listener, event)
  }

  #notify(listener: Listener, event: RuntimeEvent): void {
    if (listener.isBehind) return
    const isOfAttempt = event.type === 'live' && event.kind !== 'notice'
    if (isOfAttempt && !listener.hearsAttempts) return
    if (listener.queue.length >= listener.queueMax) this.#fallBehind(listener)
    else listener.queue.push(event)
    listener.wake()
  }

  #fallBehind(listener: Listener): void {
    listener.isBehind = true
    listener.queue = []
    listener.wake()
  }

  #read(after: number, sessionId: SessionId | undefined): Promise<readonly AuditRow[]> {
    return this.#store.readAudit({
      after,
      ...(sessionId !== undefined && { sessionId }),
      limit: LIST_MAX,
    })
  }
}

function storedEvent(row: AuditRow): StoredEvent {
  const { cursor, at, sessionId, kind, operation, facts } = row
  return { type: 'stored', cursor, at, sessionId, kind, operationId: operation, facts }
}
