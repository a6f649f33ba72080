import type { Clock } from '../../base/clock.ts'
import { KnownError } from '../../base/errors.ts'
import { type RunnerId, runnerId, type SessionId } from '../../base/ids.ts'
import type { Store } from '../../store/contract.ts'
import type { RunnerRow } from '../../store/tables/rows.ts'

export interface LeaseTimes {
  readonly leaseMs: number
  readonly renewMs: number
  /** How long before its end a lease is no longer relied on. */
  readonly marginMs: number
  readonly pollMs: number
}

export const LEASE_TIMES: LeaseTimes = {
  leaseMs: 30_000,
  renewMs: 8_000,
  marginMs: 5_000,
  pollMs: 250,
}

interface RunnerLeaseParts {
  readonly store: Pick<Store, 'registerRunner' | 'renew' | 'retireRunner'>
  readonly clock: Clock
  readonly host: Pick<RunnerRow, 'boot' | 'process'>
  readonly lease: LeaseTimes
  readonly random: () => string
  readonly onCrash?: (sessionId: SessionId | null, error: unknown) => void
}

/**
 * The process's own row in the store and the time for which it may rely on it, counted on the
 * monotonic clock from the sending of the last confirmed renewal.
 */
export class RunnerLease {
  readonly #parts: RunnerLeaseParts
  readonly #onLost: () => void
  #id: RunnerId | null = null
  #safeUntil = 0
  #isStopped = false
  #isRenewing = false
  #cancel = () => {}

  constructor(parts: RunnerLeaseParts, onLost: () => void) {
    this.#parts = parts
    this.#onLost = onLost
  }

  get id(): RunnerId | null {
    return this.#id
  }

  mayAct(): boolean {
    return this.#id !== null && this.#parts.clock.monotonic() < this.#safeUntil
  }

  /** How long work may still start unless the lease is renewed. */
  get safeMs(): number {
    return this.#safeUntil - this.#parts.clock.monotonic()
  }

  start(): void {
    this.#renewSoon(0)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  async retire(): Promise<void> {
    const runner = this.#id
    this.#id = null
    if (runner !== null) await this.#try(this.#parts.store.retireRunner({ runner }))
  }

  #renewSoon(delayMs: number): void {
    this.#cancel()
    this.#cancel = this.#parts.clock.after(delayMs, () => void this.#renew())
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing || this.#isStopped) return
    this.#isRenewing = true
    const { renewMs } = this.#parts.lease
    const isHeld = this.#id === null ? await this.#register() : await this.#beat(this.#id)
    this.#isRenewing = false
    // A failed renewal is retried well before the lease runs out.
    if (!this.#isStopped) this.#renewSoon(isHeld ? renewMs : renewMs / 4)
  }

  async #register(): Promise<boolean> {
    const { store, clock, host, lease, random } = this.#parts
    const sentAt = clock.monotonic()
    const id = runnerId(random())
    const row = { ...host, id, startedAt: clock.now(), leaseMs: lease.leaseMs }
    const outcome = await this.#try(store.registerRunner(row))
    if (outcome?.kind !== 'done') return false
    this.#id = id
    this.#confirm(sentAt)
    return true
  }

  async #beat(runner: RunnerId): Promise<boolean> {
    const { store, clock } = this.#parts
    const sentAt = clock.monotonic()
    const outcome = await this.#try(store.renew({ runner }))
    if (outcome?.kind === 'renewed' && this.mayAct()) {
      this.#confirm(sentAt)
      return true
    }
    // A late renewal counts as lost even if the row is still there: others may have acted meanwhile.
    if (outcome?.kind === 'lost' || !this.mayAct()) {
      this.#onLost()
      await this.retire()
    }
    return false
  }

  #confirm(sentAt: number): void {
    const { leaseMs, marginMs } = this.#parts.lease
    this.#safeUntil = sentAt + leaseMs - marginMs
  }

  /** Null if the store cannot be reached now; the next renewal tries again. */
  async #try<Outcome>(asked: Promise<Outcome>): Promise<Outcome | null> {
    try {
      return await asked
    } catch (error) {
      if (!(error instanceof KnownError)) this.#parts.onCrash?.(null, error)
      return null
    }
  }
}
