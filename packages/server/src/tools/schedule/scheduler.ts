import { type Clock, pause } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import type { SessionId } from '#core/base/ids'
import { Recent } from '#core/base/recent'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import { DamagedRowError } from '#core/store/errors'
import type { ScheduleRow } from '#core/store/operational-rows'
import { releaseHeld } from '../send-message/held.ts'
import { firstDue, nextDue, readRepeat } from './repeat.ts'

/**
 * Fires what is due. Every process of a store runs one; the store lets exactly one of them fire
 * each due time, and the mail is in the same commit. After a time without any process, a repeating
 * schedule fires once and continues from now instead of sending an hour's worth of reminders at
 * once. A schedule that fired while a clock was years ahead is moved back when the clock is right
 * again.
 *
 * `new -> running -> closed`. An unreachable store is retried in the next round.
 */
export interface SchedulerParts {
  readonly store: Pick<
    Store,
    'listSchedules' | 'fireSchedule' | 'putSchedule' | 'findSession' | 'watch'
  >
  readonly clock: Clock
  readonly pollMs: number
  /** Called before a session receives mail. */
  readonly beforeFire?: (sessionId: SessionId) => Promise<void>
  /** A session received mail. */
  readonly onFired: (sessionId: SessionId) => void
  /** A programmer's error or a damaged row; the next round still runs. */
  readonly onCrash: (error: unknown) => void
}

export const SCHEDULE_POLL_MS = 1_000
const DUE_READ = 64
/** The store is read at least once in this many rounds, because hints can be lost. */
const QUIET_ROUNDS = 30
/**
 * Clocks of hosts on one store may differ by minutes, and no host may move what another has set.
 */
const AHEAD_MS = 3_600_000
const READ_AT_ONCE = 50

export class Scheduler {
  readonly #parts: SchedulerParts
  #round: Promise<void> = Promise.resolve()
  #isClosed = false
  readonly #broken = new Recent<string, true>(1_000)
  #lastNow = Number.POSITIVE_INFINITY
  #cancel = () => {}
  #unwatch = () => {}
  /** Something may have changed since the store was last read. */
  #hasNews = true
  #quietRounds = 0
  /** When the next schedule is due, as far as the store was read. */
  #dueAt = 0

  constructor(parts: SchedulerParts) {
    this.#parts = parts
  }

  start(): void {
    this.#unwatch = this.#parts.store.watch(() => {
      this.#hasNews = true
    })
    this.#next(0)
  }

  /** Waits for running fires. May be called twice. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#unwatch()
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
      await this.#mindClock()
      if (this.#isDue()) hasMore = await this.#fireAll()
    } catch (error) {
      this.#hasNews = true
      if (!(error instanceof KnownError)) this.#parts.onCrash(error)
    }
    this.#next(hasMore ? 0 : this.#parts.pollMs)
  }

  /** An idle server looks at its clock every second, and at its store only if it has to. */
  #isDue(): boolean {
    this.#quietRounds += 1
    return (
      this.#hasNews || this.#dueAt <= this.#parts.clock.now() || this.#quietRounds >= QUIET_ROUNDS
    )
  }

  async #fireAll(): Promise<boolean> {
    const { store, beforeFire, onFired } = this.#parts
    this.#hasNews = false
    this.#quietRounds = 0
    const hasMore = await this.#fireDue()
    const release = (id: SessionId, run: () => Promise<boolean>) => this.#spare(id, run)
    for (const id of await releaseHeld(store, { beforeFire, release })) onFired(id)
    const query = { state: 'waiting', dueBy: Number.MAX_SAFE_INTEGER, limit: 1 } as const
    const [next] = await store.listSchedules(query)
    this.#dueAt = next?.dueAt ?? Number.POSITIVE_INFINITY
    return hasMore
  }

  /** In the first round the earlier clock is unknown. */
  async #mindClock(): Promise<void> {
    const now = this.#parts.clock.now()
    if (now < this.#lastNow) await this.#bringBack(now)
    this.#lastNow = now
  }

  /** A schedule that fired while the clock was ahead has its next time equally far ahead. */
  async #bringBack(now: number): Promise<void> {
    const { store, clock } = this.#parts
    for (let after = ''; ; ) {
      const page = await store.listSchedules({ state: 'waiting', after, limit: READ_AT_ONCE })
      for (const { id, sessionId, dueAt, repeat: text, body, tokens } of page) {
        if (this.#isClosed) return
        const repeat = text === null || dueAt < now + AHEAD_MS ? undefined : readRepeat(text)
        const first = repeat === undefined ? null : firstDue(repeat, dueAt, now)
        if (first === null || dueAt < first + AHEAD_MS) continue
        const moved = { id, sessionId, dueAt: first, from: dueAt, repeat: text, tokens }
        await this.#spare(id, async () => {
          await store.putSchedule({ ...moved, body: JSON.parse(body) })
          return true
        })
      }
      after = page.at(-1)?.id ?? ''
      if (page.length < READ_AT_ONCE) return
      // Computing cron times is slow, so other work runs in between.
      await pause(clock, 0)
    }
  }

  async #fireDue(): Promise<boolean> {
    const { store, clock } = this.#parts
    const now = clock.now()
    const due = await store.listSchedules({ state: 'waiting', dueBy: now, limit: DUE_READ })
    const stuck = new Set<string>()
    for (const schedule of due) {
      if (this.#isClosed) return false
      if (!(await this.#fire(schedule, now))) stuck.add(schedule.id)
    }
    if (due.length < DUE_READ) return false
    // The earliest may have a full mailbox; they must not delay the others.
    if (stuck.size > 0) await this.#fireOthers(stuck, now)
    return stuck.size === 0
  }

  async #fireOthers(tried: ReadonlySet<string>, now: number): Promise<void> {
    const { store } = this.#parts
    for (let after: string | undefined; ; ) {
      const behind = after === undefined ? {} : { after }
      const page = await store.listSchedules({ state: 'waiting', ...behind, limit: LIST_MAX })
      for (const schedule of page) {
        if (this.#isClosed) return
        if (schedule.dueAt > now || tried.has(schedule.id)) continue
        await this.#fire(schedule, now)
      }
      after = page.at(-1)?.id
      if (page.length < LIST_MAX || after === undefined) return
    }
  }

  #fire(schedule: ScheduleRow, now: number): Promise<boolean> {
    return this.#spare(schedule.id, () => this.#fireOne(schedule, now))
  }

  /** An unreadable row loses only its own reminder; it is reported once. */
  async #spare(name: string, run: () => Promise<boolean>): Promise<boolean> {
    try {
      return await run()
    } catch (error) {
      if (error instanceof KnownError && !(error instanceof DamagedRowError)) throw error
      if (!this.#broken.has(name)) this.#parts.onCrash(error)
      this.#broken.set(name, true)
      return false
    }
  }

  async #fireOne(schedule: ScheduleRow, now: number): Promise<boolean> {
    const { id, dueAt } = schedule
    const repeat = schedule.repeat === null ? undefined : readRepeat(schedule.repeat)
    const nextDueAt = repeat === undefined ? null : nextDue(repeat, dueAt, Math.max(dueAt, now))
    await this.#parts.beforeFire?.(schedule.sessionId)
    const outcome = await this.#parts.store.fireSchedule({ id, dueAt, nextDueAt })
    if (outcome.kind === 'fired') this.#parts.onFired(outcome.sessionId)
    return outcome.kind === 'fired'
  }
}
