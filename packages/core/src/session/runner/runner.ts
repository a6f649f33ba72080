import { KnownError } from '../../base/errors.ts'
import type { RunnerId, SessionId } from '../../base/ids.ts'
import { LIST_MAX } from '../../store/bounds.ts'
import type { Lease } from '../../store/contract.ts'
import { OutcomeUnknownError } from '../../store/errors.ts'
import type { AuditKind, RunnerRow, SessionRow } from '../../store/tables/rows.ts'
import { type Acquisition, type ActorEnd, SessionActor, type SessionParts } from '../actor.ts'
import type { Sender } from '../sender.ts'
import type { SessionSettings } from '../settings.ts'
import { OtherRunners } from './other-runners.ts'
import { type LeaseTimes, RunnerLease } from './runner-lease.ts'

/**
 * One process's hold on its sessions. The lease is one row however many sessions are held: renewing
 * it costs the same for one and for ten thousand (decision 21).
 *
 * Our own time is counted from the sending of the last renewal that was confirmed, on the monotonic
 * clock, and ends a margin early; from then on nothing starts and every actor is stopped. Other
 * runners are watched: a beat that has not moved for that runner's lease, again on our own
 * monotonic clock, means that it is gone. No wall clock takes part (I25). A process that is
 * provably dead (same boot, and its process id is gone or reused) ends that wait.
 *
 * `new -> registered -> (lost -> registered)* -> closed`. Losing the row, or failing to renew in
 * time, ends all actors; then everything starts again under another id.
 */
export interface RunnerParts extends SessionParts {
  readonly agents: readonly string[]
  /** Settings of one agent's sessions, read when a session is acquired; absent: `settings`. */
  readonly settingsFor?: (agent: string) => SessionSettings
  readonly host: Pick<RunnerRow, 'boot' | 'process'>
  readonly lease: LeaseTimes
  /** Random text for runner ids and holders: letters and digits. */
  readonly random: () => string
  readonly sender?: Sender
  /** Whether that runner's process is certainly dead. Without this function none is. */
  readonly isGone?: (row: RunnerRow) => boolean
  /** Called for a programmer's error; it ended an actor or a round, not the process. */
  readonly onCrash?: (sessionId: SessionId | null, error: unknown) => void
}

/**
 * How many ready sessions are read, and acquired at once. Every commit of a session that is held
 * already comes between two rounds of acquisitions, so a session that misses a round waits until
 * most others have been answered again: with 64 and 32, the first answers of 150 sessions were
 * complete when
 * 1.4 answers per session had been given; with these, 1.1. The store commits them together, and hands on
 * four answers in each turn of the event loop, so they do not block it.
 */
const READY_READ = 512
/** A session whose actor crashes again and again is retried no more often than this. */
const REST_MS_MAX = 60_000
/** A session that is not at rest looks this often, whatever the store's record says. */
const LOOK_MS = 10_000
/** Of all sessions in one round: all at once would keep the store's reader busy for seconds. */
const LOOKS_SHARE = 1 / 5
/** Without changes the store is still read after this many polls, because hints can be lost. */
const QUIET_POLLS = 8
/** The delay before a change is read, so that several can gather. */
const [GATHER_MS, BUSY_MS] = [5, 100]
/** Changes by others to a session held here; after an acquisition its actor looks anyway. */
const FROM_OUTSIDE: readonly AuditKind[] = [
  ...(['message admitted', 'message withdrawn', 'session deleted'] as const),
  ...(['lease acquired', 'lease lost'] as const),
]

export class Runner {
  readonly #parts: RunnerParts
  readonly #lease: RunnerLease
  readonly #actors = new Map<SessionId, SessionActor>()
  /** Sessions whose actor crashed and whose lease must still be released. */
  readonly #orphans = new Map<SessionId, Lease>()
  /** How often in a row the actor crashed, and until when the session is left alone. */
  readonly #crashes = new Map<SessionId, { count: number; until: number }>()
  /**
   * Sessions that we may hold without knowing it: the answer to an acquisition was lost. The fence
   * is that of the request; only a higher one makes it void.
   */
  readonly #unsure = new Map<SessionId, number>()
  readonly #others: OtherRunners
  #isClosing = false
  #isPolling = false
  /** Something may have changed since the store was last read. */
  #hasNews = true
  #askedAt = Number.NEGATIVE_INFINITY
  #pollAt = Number.POSITIVE_INFINITY
  #unwatch = () => {}
  /** How far the audit was read for changes; null: not read. */
  #cursor: number | null = null
  /** The last page was full: there may be another. */
  #hasMore = false
  #isHinted = false
  #cancelPoll = () => {}

  constructor(parts: RunnerParts) {
    this.#parts = parts
    this.#lease = new RunnerLease(parts, () => this.#loseAll())
    this.#others = new OtherRunners(parts.clock, parts.isGone)
  }

  get id(): RunnerId | null {
    return this.#lease.id
  }

  get sessions(): readonly SessionId[] {
    return [...this.#actors.keys()]
  }

  start(): void {
    this.#unwatch = this.#parts.store.watch(() => this.#hear())
    this.#lease.start()
    this.#pollSoon(0)
  }

  /** The store has changed, through this process or another. */
  #hear(): void {
    this.#hasNews = true
    if (this.#isPolling || this.#isClosing || !this.mayAct()) return
    const now = this.#parts.clock.monotonic()
    const at = Math.max(now + GATHER_MS, this.#askedAt + BUSY_MS)
    if (at < this.#pollAt) this.#pollSoon(at - now)
  }

  /** A hint that this session may have mail; a free session is acquired at once. */
  wake(sessionId: SessionId): void {
    const actor = this.#actors.get(sessionId)
    if (actor !== undefined) actor.wake()
    else if (!this.#isClosing) {
      this.#isHinted = true
      this.#hasNews = true
      this.#pollSoon(0)
    }
  }

  /** A model answers again: wakes up to this many waiting sessions. Returns how many. */
  modelIsBack(count: number, isFor: (agent: string) => boolean = () => true): number {
    const waiting = [...this.#actors.values()].filter(
      ({ waitsForModelOf }) => waitsForModelOf !== null && isFor(waitsForModelOf),
    )
    for (const actor of waiting.slice(0, count)) actor.modelIsBack()
    return Math.min(count, waiting.length)
  }

  /** Whether work with outside effects may still start. */
  mayAct(): boolean {
    return this.#lease.mayAct()
  }

  /** Under this id only: claims from before a loss do not belong to the next id. */
  #mayActAs(runner: RunnerId): () => boolean {
    return () => this.id === runner && this.mayAct()
  }

  /** Ends all actors, then the runner's row. Sessions still busy are free for others at once. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#lease.stop()
    this.#unwatch()
    this.#cancelPoll()
    const ends = [...this.#actors.values()].map((actor) => this.#endOf.get(actor))
    for (const actor of this.#actors.values()) actor.close()
    await Promise.all([...ends, this.#parts.sender?.close()])
    await this.#lease.retire()
  }

  readonly #endOf = new Map<SessionActor, Promise<void>>()

  #pollSoon(delayMs: number): void {
    this.#cancelPoll()
    const { clock } = this.#parts
    this.#pollAt = clock.monotonic() + delayMs
    this.#cancelPoll = clock.after(delayMs, () => void this.#poll())
  }

  #loseAll(): void {
    for (const actor of this.#actors.values()) actor.lose()
    this.#actors.clear()
    this.#orphans.clear()
    this.#unsure.clear()
  }

  async #poll(): Promise<void> {
    if (this.#isPolling || this.#isClosing) return
    this.#isPolling = true
    this.#isHinted = false
    if (this.id !== null) {
      if (!this.mayAct()) this.#loseAll()
      else if (this.#hasNews || this.#hasMore || this.#quietMs() <= 0) await this.#round(this.id)
      else if (this.#others.count > 0) await this.#watchRunners()
    }
    this.#isPolling = false
    if (this.#isClosing) return
    this.#pollSoon(this.#hasMore || this.#isHinted ? 0 : this.#restMs())
    if (this.#hasNews) this.#hear()
  }

  /** How long until the store is read again if nothing changes. */
  #quietMs(): number {
    const { clock, lease } = this.#parts
    const isOwed = this.#orphans.size > 0 || this.#unsure.size > 0 || this.#crashes.size > 0
    const everyMs = isOwed ? lease.pollMs : lease.pollMs * QUIET_POLLS
    return this.#askedAt + everyMs - clock.monotonic()
  }

  /** Other runners are watched in every poll; alone, a process sleeps until something is due. */
  #restMs(): number {
    const { pollMs } = this.#parts.lease
    if (this.#others.count > 0 || !this.mayAct()) return pollMs
    return Math.max(0, Math.min(this.#quietMs(), this.#lease.safeMs))
  }

  async #round(runner: RunnerId): Promise<void> {
    this.#hasNews = false
    this.#askedAt = this.#parts.clock.monotonic()
    await this.#releaseOrphans()
    await this.#watchRunners()
    await this.#takeUnsure(runner)
    if (this.id !== null) await this.#takeReady(this.id)
    await this.#wakeChanged()
    if (this.id !== null) this.#send(this.id)
  }

  /** Runs beside everything else: an edge may be slow. */
  #send(runner: RunnerId): void {
    const { sender } = this.#parts
    if (sender !== undefined) void this.#try(sender.run(runner, this.#mayActAs(runner)))
  }

  /**
   * Wakes the sessions that other processes changed, according to the store's record. Reading every
   * session would cost more with each one held.
   */
  async #wakeChanged(): Promise<void> {
    const { store, clock } = this.#parts
    const actors = [...this.#actors.values()]
    if (actors.length === 0) this.#cursor = null
    else if (this.#cursor === null) {
      // Read first, so that changes during the look are found in the next round.
      this.#cursor = (await this.#try(store.readStore()))?.commits ?? null
      for (const actor of actors) actor.wake()
    } else {
      const late = actors.filter(({ lookedAt }) => lookedAt < clock.monotonic() - LOOK_MS)
      for (const actor of late.slice(0, Math.ceil(actors.length * LOOKS_SHARE))) actor.wake()
      await this.#wakeRecorded(this.#cursor)
    }
  }

  async #wakeRecorded(after: number): Promise<void> {
    const rows = (await this.#try(this.#parts.store.readAudit({ after, limit: LIST_MAX }))) ?? []
    this.#cursor = rows.at(-1)?.cursor ?? after
    if (rows.length === LIST_MAX) this.#hasNews = true
    for (const { kind, sessionId, facts } of rows) {
      if (!FROM_OUTSIDE.includes(kind) || facts['runner'] === this.id) continue
      const actor = this.#actors.get(sessionId)
      if (kind === 'message admitted') actor?.expectMail(Number(facts['mail']))
      else actor?.wake()
    }
  }

  async #takeReady(runner: RunnerId): Promise<void> {
    const { store, agents, clock } = this.#parts
    const query = { agents, at: clock.now(), limit: READY_READ }
    const ready = (await this.#try(store.readReady(query))) ?? []
    const before = this.#actors.size
    const free = ready.filter(({ id }) => !this.#actors.has(id) && !this.#isResting(id))
    if (this.#isClosing || runner !== this.id || !this.mayAct()) return
    await Promise.all(free.map((session) => this.#take(runner, session)))
    this.#hasMore = ready.length === READY_READ && this.#actors.size > before
  }

  async #take(runner: RunnerId, session: SessionRow): Promise<void> {
    const acquired = await this.#acquire(runner, session)
    // The process may have lost its own row, or begun to close, while the answer was on its way;
    // the end of that row then frees the session.
    if (acquired === null || this.#isClosing || runner !== this.id) return
    const settings = this.#parts.settingsFor?.(session.agent) ?? this.#parts.settings
    const actor = new SessionActor({ ...this.#parts, settings }, acquired, this.#mayActAs(runner))
    this.#actors.set(acquired.lease.sessionId, actor)
    this.#endOf.set(
      actor,
      actor.run().then((how) => this.#forget(actor, how)),
    )
  }

  /**
   * Repeats the request until there is an answer. A lost request may still be carried out later:
   * repeating it under the fence read then either finds it done or makes it void.
   */
  async #acquire(
    runner: RunnerId,
    { id: sessionId, fence }: SessionRow,
  ): Promise<Acquisition | null> {
    const { store, random } = this.#parts
    try {
      const outcome = await store.acquire({ sessionId, runner, holder: random(), fence })
      // While another live runner holds it, our earlier request is neither done nor void.
      if (outcome.kind === 'held') return null
      this.#unsure.delete(sessionId)
      if (outcome.kind === 'acquired') return outcome
      // Our own request, assumed lost, was carried out between the read and the acquisition.
      if (outcome.kind === 'fence-changed') this.#unsure.set(sessionId, fence)
      return null
    } catch (error) {
      if (error instanceof OutcomeUnknownError) this.#unsure.set(sessionId, fence)
      return this.#swallow(error)
    }
  }

  async #takeUnsure(runner: RunnerId): Promise<void> {
    for (const [sessionId, fence] of this.#unsure) {
      const row = await this.#try(this.#parts.store.findSession(sessionId))
      if (row === null) continue
      const isOver = row?.state !== 'open' || this.#actors.has(sessionId)
      const isVoid = row !== undefined && row.fence > fence && row.runner !== runner
      if (isOver || isVoid) this.#unsure.delete(sessionId)
      else if (row.runner === null || !this.#others.has(row.runner)) await this.#take(runner, row)
    }
  }

  #forget(actor: SessionActor, end: ActorEnd): void {
    const { sessionId } = actor.lease
    this.#endOf.delete(actor)
    if (this.#actors.get(sessionId) === actor) this.#actors.delete(sessionId)
    if (end.kind !== 'crashed') {
      this.#crashes.delete(sessionId)
      return
    }
    this.#rest(sessionId)
    this.#orphans.set(sessionId, actor.lease)
    this.#parts.onCrash?.(sessionId, end.error)
  }

  /** One crash may be bad luck; a session that always crashes must not keep the process busy. */
  #rest(sessionId: SessionId): void {
    const { clock, lease } = this.#parts
    const count = (this.#crashes.get(sessionId)?.count ?? 0) + 1
    const waitMs = count === 1 ? 0 : Math.min(REST_MS_MAX, lease.pollMs * 2 ** Math.min(count, 20))
    this.#crashes.set(sessionId, { count, until: clock.monotonic() + waitMs })
  }

  #isResting(sessionId: SessionId): boolean {
    const { until = 0 } = this.#crashes.get(sessionId) ?? {}
    return until > this.#parts.clock.monotonic()
  }

  async #releaseOrphans(): Promise<void> {
    for (const [sessionId, lease] of this.#orphans) {
      const outcome = await this.#try(this.#parts.store.release({ lease, reason: 'crash' }))
      if (outcome !== null) this.#orphans.delete(sessionId)
    }
  }

  async #watchRunners(): Promise<void> {
    const { store } = this.#parts
    const rows = (await this.#try(store.listRunners())) ?? []
    for (const { id, beat } of this.#others.note(rows, this.id)) {
      const outcome = await this.#try(store.dismissRunner({ runner: id, beat }))
      if (outcome?.kind === 'done') this.#others.forget(id)
    }
  }

  /** Null if the store cannot be reached now; the next round tries again. */
  async #try<Outcome>(asked: Promise<Outcome>): Promise<Outcome | null> {
    try {
      return await asked
    } catch (error) {
      return this.#swallow(error)
    }
  }

  #swallow(error: unknown): null {
    if (!(error instanceof KnownError)) this.#parts.onCrash?.(null, error)
    return null
  }
}
