import type { Clock } from '#core/base/clock'
import type { Store } from '#core/store/contract'

/**
 * Wraps a process's store and records what a transcript does not show: the runner's id, how late
 * its renewals were, on which view a session was acquired, and whether a holder's commit was
 * refused although no other process may write.
 */
export type Fact =
  | { readonly what: 'runner'; readonly runner: string }
  /** The process itself may have let the lease expire, so others may take its sessions. */
  | { readonly what: 'late'; readonly runner: string }
  | { readonly what: 'old-picture'; readonly sessionId: string; readonly text: string }
  | { readonly what: 'overtaken'; readonly sessionId: string; readonly verb: string }

/** Challengers check beats only now and then, so a lease seems this much shorter to them. */
const LATE_SHARE = 0.6

export class Observer {
  readonly #leaseMs: number
  readonly #clock: Clock
  readonly #report: (fact: Fact) => void
  #runner = ''
  #renewedAt: number

  constructor(parts: { leaseMs: number; clock: Clock; report: (fact: Fact) => void }) {
    this.#leaseMs = parts.leaseMs
    this.#clock = parts.clock
    this.#report = parts.report
    this.#renewedAt = parts.clock.monotonic()
  }

  /** How long the lease has been expired, counted from its last confirmed renewal; 0: valid. */
  get overdueMs(): number {
    return Math.max(0, this.#clock.monotonic() - this.#renewedAt - this.#leaseMs)
  }

  over(store: Store): Store {
    return {
      ...store,
      registerRunner: async (request) => {
        const sentAt = this.#clock.monotonic()
        const outcome = await store.registerRunner(request)
        this.#runner = request.id
        this.#renewedAt = sentAt
        this.#report({ what: 'runner', runner: request.id })
        return outcome
      },
      renew: async (request) => {
        const sentAt = this.#clock.monotonic()
        const isLate = sentAt - this.#renewedAt > this.#leaseMs * LATE_SHARE
        if (isLate) this.#report({ what: 'late', runner: this.#runner })
        const outcome = await store.renew(request)
        const took = this.#clock.monotonic() - this.#renewedAt
        if (took > this.#leaseMs * LATE_SHARE) this.#report({ what: 'late', runner: this.#runner })
        if (outcome.kind === 'renewed') this.#renewedAt = sentAt
        return outcome
      },
      acquire: async (request) => {
        const outcome = await store.acquire(request)
        if (outcome.kind === 'acquired' && outcome.lease.fence !== request.fence + 1) {
          const text = `asked under fence ${request.fence}, got ${outcome.lease.fence}`
          this.#report({ what: 'old-picture', sessionId: request.sessionId, text })
        }
        return outcome
      },
      deliver: (request) => this.#mind('deliver', request, store.deliver(request)),
      commitReply: (request) => this.#mind('commitReply', request, store.commitReply(request)),
      commitResults: (request) =>
        this.#mind('commitResults', request, store.commitResults(request)),
    }
  }

  async #mind<Outcome extends { readonly kind: string }>(
    verb: string,
    { lease: { sessionId } }: { readonly lease: { readonly sessionId: string } },
    asked: Promise<Outcome>,
  ): Promise<Outcome> {
    const outcome = await asked
    const by = 'by' in outcome ? outcome.by : null
    if (outcome.kind === 'superseded' && by === 'tail') {
      this.#report({ what: 'overtaken', sessionId, verb })
    }
    return outcome
  }
}
