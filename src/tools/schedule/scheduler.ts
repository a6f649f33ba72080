import type { Clock } from '../../base/clock.ts'
import { KnownError } from '../../base/errors.ts'
import type { SessionId } from '../../base/ids.ts'
import type { Commits, Reads } from '../../store/contract.ts'
import type { ScheduleRow } from '../../store/standing.ts'
import { releaseHeld } from '../send-message/held.ts'
import { nextDue, readRepeat } from './repeat.ts'

/**
 * Fires what is due. Every process of a store runs one; the store lets exactly one of them fire each
 * due time, and the mail is in the same commit. After a time in which nobody ran, a repeating
 * schedule fires once and goes on from now: nobody wants an hour's worth of reminders at once.
 *
 * `new -> running -> closed`. A store that cannot be asked is asked again in the next round.
 */
export interface SchedulerParts {
  readonly store: Pick<Commits & Reads, 'listSchedules' | 'fireSchedule' | 'findSession'>
  readonly clock: Clock
  readonly pollMs: number
  /** This session got mail. */
  readonly onFired: (sessionId: SessionId) => void
  /** A programmer's error; the next round comes all the same. */
  readonly onCrash: (error: unknown) => void
}

export const SCHEDULE_POLL_MS = 1_000
const DUE_READ = 64

export class Scheduler {
  readonly #parts: SchedulerParts
  #round: Promise<void> = Promise.resolve()
  #isClosed = false
  #cancel = () => {}

  constructor(parts: SchedulerParts) {
    this.#parts = parts
  }

  start(): void {
    this.#next(0)
  }

  /** Waits for what is being fired. May be called twice. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel()
    await this.#round
  }

  #next(delayMs: number): void {
    if (this.#isClosed) return
    this.#cancel = this.#parts.clock.after(delayMs, () => {
      this.#round = this.#run()
    })
  }

  async #run(): Promise<void> {
    let hasMore = false
    try {
      hasMore = await this.#fireDue()
      for (const sessionId of await releaseHeld(this.#parts.store)) this.#parts.onFired(sessionId)
    } catch (error) {
      if (!(error instanceof KnownError)) this.#parts.onCrash(error)
    }
    this.#next(hasMore ? 0 : this.#parts.pollMs)
  }

  async #fireDue(): Promise<boolean> {
    const { store, clock } = this.#parts
    const now = clock.now()
    const due = await store.listSchedules({ state: 'waiting', dueBy: now, limit: DUE_READ })
    let fired = 0
    for (const schedule of due) {
      if (this.#isClosed) return false
      if (await this.#fire(schedule, now)) fired++
    }
    return due.length === DUE_READ && fired > 0
  }

  async #fire(schedule: ScheduleRow, now: number): Promise<boolean> {
    const { id, dueAt } = schedule
    const repeat = schedule.repeat === null ? undefined : readRepeat(schedule.repeat)
    const nextDueAt = repeat === undefined ? null : nextDue(repeat, dueAt, Math.max(dueAt, now))
    const outcome = await this.#parts.store.fireSchedule({ id, dueAt, nextDueAt })
    if (outcome.kind === 'fired') this.#parts.onFired(outcome.sessionId)
    return outcome.kind === 'fired'
  }
}
