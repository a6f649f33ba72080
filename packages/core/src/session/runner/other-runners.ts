import type { Clock } from '../../base/clock.ts'
import type { RunnerId } from '../../base/ids.ts'
import type { ListedRunner, RunnerRow } from '../../store/tables/rows.ts'

/** A broken connection is restored sooner; if it is not, the process has died. */
const ABSENT_MS = 900

/**
 * Watches the beats of other runners. One is gone if its beat has not moved for its lease, by our
 * own monotonic clock, if its connection stays away, or if its process is certainly dead.
 */
export class OtherRunners {
  readonly #clock: Clock
  readonly #isGone: (row: RunnerRow) => boolean
  readonly #beats = new Map<RunnerId, { beat: number; since: number }>()
  /** Since when their connections are gone. */
  readonly #absent = new Map<RunnerId, number>()
  #count = 0

  constructor(clock: Clock, isGone: (row: RunnerRow) => boolean = () => false) {
    this.#clock = clock
    this.#isGone = isGone
  }

  /** How many there were when they were last read. */
  get count(): number {
    return this.#count
  }

  has(id: RunnerId): boolean {
    return this.#beats.has(id)
  }

  /** Those of the listed runners that are gone. */
  note(rows: readonly ListedRunner[], ourselves: RunnerId | null): readonly ListedRunner[] {
    const others = rows.filter(({ id }) => id !== ourselves)
    this.#count = others.length
    const known = new Set(rows.map((row) => row.id))
    for (const seen of [this.#beats, this.#absent]) {
      for (const id of seen.keys()) if (!known.has(id)) seen.delete(id)
    }
    return others.filter((row) => this.#isSilent(row) || this.#isAbsent(row) || this.#isGone(row))
  }

  forget(id: RunnerId): void {
    this.#beats.delete(id)
  }

  #isSilent({ id, beat, leaseMs }: ListedRunner): boolean {
    const now = this.#clock.monotonic()
    const seen = this.#beats.get(id)
    if (seen?.beat === beat) return now - seen.since >= leaseMs
    this.#beats.set(id, { beat, since: now })
    return false
  }

  #isAbsent({ id, isAbsent }: ListedRunner): boolean {
    const now = this.#clock.monotonic()
    const since = this.#absent.get(id) ?? now
    if (isAbsent) this.#absent.set(id, since)
    else this.#absent.delete(id)
    return isAbsent === true && now - since >= ABSENT_MS
  }
}
