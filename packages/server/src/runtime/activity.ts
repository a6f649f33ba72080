import { type Clock, DAY_MS } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import { LIST_MAX } from '#core/store/bounds'
import type { Reads } from '#core/store/contract'
import type { AuditRow } from '#core/store/tables/rows'
import { type ModelUsage, readUsage } from './usage.ts'

/** What happened in the last 24 hours, hour by hour. */
export interface Activity {
  /** Oldest first. An hour in which nothing happened has zeros. */
  readonly hours: readonly ActiveHour[]
  /** The turns that took longest, longest first. */
  readonly slowest: readonly SlowTurn[]
}

export interface ActiveHour extends ModelUsage, HourCounts {
  /** When it began. */
  readonly at: number
}

interface HourCounts {
  /** Turns that ended, also the failed ones. */
  readonly turns: number
  readonly failedTurns: number
  readonly compactions: number
  readonly failedCompactions: number
}

export interface SlowTurn {
  readonly sessionId: SessionId
  readonly turn: number
  /** The entry that ended it. */
  readonly entry: number
  readonly endedAt: number
  readonly durationMs: number
}

const HOUR_MS = 3_600_000
const HOURS = DAY_MS / HOUR_MS
/** A turn that took less is not worth a look. */
const SLOW_MS = 10_000
const SLOWEST_MAX = 5
/** Where more was committed within the window, only the newest of it is counted. */
const ROWS_MAX = 100_000

const NO_COUNTS = { turns: 0, failedTurns: 0, compactions: 0, failedCompactions: 0 }
const NO_USAGE: ModelUsage = {
  ...{ calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0, unpricedCalls: 0 },
}

type Counts = { -readonly [Key in keyof HourCounts]: number } & { slowest: readonly SlowTurn[] }
type ActivityReads = Pick<Reads, 'readStore' | 'readAudit' | 'groupAttempts'>

/**
 * Counts the store's commits by hour. The first reading starts at the commits of a day ago; each
 * later one reads only what was committed since.
 */
export class ActivityLog {
  readonly #store: ActivityReads
  readonly #clock: Pick<Clock, 'now'>
  #hours = new Map<number, Counts>()
  /** When the running turn of a session began. */
  #started = new Map<SessionId, number>()
  #cursor: number | null = null
  #readAt = 0
  #reading: Promise<void> | null = null

  constructor(store: ActivityReads, clock: Pick<Clock, 'now'>) {
    this.#store = store
    this.#clock = clock
  }

  async read(): Promise<Activity> {
    const now = this.#clock.now()
    const first = now - (now % HOUR_MS) - (HOURS - 1) * HOUR_MS
    this.#reading ??= this.#catchUp(first, now).finally(() => {
      this.#reading = null
    })
    await this.#reading
    const usage = await readUsage(this.#store, { by: 'hour', since: first, limit: HOURS + 1 })
    const used = new Map(usage.map(({ key, ...sums }) => [Date.parse(`${key}:00Z`), sums]))
    const hours = Array.from({ length: HOURS }, (_, index): ActiveHour => {
      const at = first + index * HOUR_MS
      const { slowest: _slowest, ...counts } = this.#hours.get(at) ?? { ...NO_COUNTS, slowest: [] }
      return { at, ...counts, ...(used.get(at) ?? NO_USAGE) }
    })
    return { hours, slowest: longest([...this.#hours.values()].flatMap(({ slowest }) => slowest)) }
  }

  async #catchUp(first: number, now: number): Promise<void> {
    // After a long time without a reader, the activity in between is not needed.
    if (this.#cursor === null || now - this.#readAt > HOUR_MS) {
      this.#hours.clear()
      this.#started.clear()
      this.#cursor = await cursorBefore(this.#store, first)
    }
    this.#readAt = now
    for (const at of this.#hours.keys()) if (at < first) this.#hours.delete(at)
    for (const [id, at] of this.#started) if (at < first) this.#started.delete(id)
    for (;;) {
      const rows = await this.#store.readAudit({ after: this.#cursor, limit: LIST_MAX })
      for (const row of rows) this.#count(row)
      this.#cursor = rows.at(-1)?.cursor ?? this.#cursor
      if (rows.length < LIST_MAX) return
    }
  }

  #count({ kind, at, sessionId, facts }: AuditRow): void {
    switch (kind) {
      case 'turn started':
        this.#started.set(sessionId, at)
        break
      case 'turn ended': {
        const counts = this.#hour(at)
        const { turn, entry, ended } = facts
        counts.turns++
        if (ended === 'failed') counts.failedTurns++
        const durationMs = at - (this.#started.get(sessionId) ?? at)
        this.#started.delete(sessionId)
        if (durationMs >= SLOW_MS) {
          const slow = { sessionId, turn: Number(turn), entry: Number(entry), endedAt: at }
          counts.slowest = longest([...counts.slowest, { ...slow, durationMs }])
        }
        break
      }
      // A turn of another program's loop is recorded as a whole.
      case 'entries adopted':
        if (typeof facts['turn'] === 'number') this.#hour(at).turns++
        break
      case 'compaction committed':
        this.#hour(at).compactions++
        break
      case 'compaction failed':
        this.#hour(at).failedCompactions++
        break
      default:
        break
    }
  }

  #hour(at: number): Counts {
    const start = at - (at % HOUR_MS)
    const counts = this.#hours.get(start) ?? { ...NO_COUNTS, slowest: [] }
    this.#hours.set(start, counts)
    return counts
  }
}

function longest(turns: readonly SlowTurn[]): readonly SlowTurn[] {
  return turns.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST_MAX)
}

/** The cursor before the first commit at or after `at`, by halving: commits are in order of time. */
async function cursorBefore(store: ActivityReads, at: number): Promise<number> {
  let { commits: to } = await store.readStore()
  let from = Math.max(0, to - ROWS_MAX)
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const [next] = await store.readAudit({ after: middle, limit: 1 })
    if (next !== undefined && next.at < at) from = middle + 1
    else to = middle
  }
  return from
}
