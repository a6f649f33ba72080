import type { JsonObject } from '#core/base/json'
import type { Reads } from '#core/store/contract'
import type { AuditRow } from '#core/store/tables/rows'

/**
 * Follows the store's own record of commits, independently of all agents: which sessions are
 * compacting, what was admitted meanwhile, and which process took over from which.
 */
export interface SessionFigures {
  /** Committed. */
  compactions: number
  failed: number
  /** How many of those were interrupted from outside. */
  torn: number
  /** Acquired although the last holder had not released it. */
  takeOvers: number
  turns: number
  isCompacting: boolean
  /** Mail admitted while a compaction ran. */
  readonly meanwhile: Set<number>
}

/** One holder's time as a session's only writer, and how it ended; null: it has not. */
export interface LeaseRecord {
  readonly sessionId: string
  readonly fence: number
  readonly runner: string
  ended: 'lost' | 'idle' | 'shutdown' | 'crash' | null
}

export type WatchedRow = Pick<AuditRow, 'cursor' | 'sessionId' | 'kind' | 'facts'>

const PAGE = 500
const EVERY_MS = 100

export class Watcher {
  readonly #store: Pick<Reads, 'readAudit'>
  readonly #onCompaction: (agent: string) => void
  readonly #sessions = new Map<string, SessionFigures & { isHeld: boolean }>()
  readonly #recoveries = new Set<string>()
  readonly #leases = new Map<string, LeaseRecord>()
  readonly recoveredTwice: string[] = []
  #cursor = 0

  constructor(store: Pick<Reads, 'readAudit'>, onCompaction: (agent: string) => void) {
    this.#store = store
    this.#onCompaction = onCompaction
  }

  of(agent: string): SessionFigures {
    return this.#account(agent)
  }

  get leases(): readonly LeaseRecord[] {
    return [...this.#leases.values()]
  }

  sum(figure: (session: SessionFigures) => number): number {
    return [...this.#sessions.values()].reduce((total, session) => total + figure(session), 0)
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.read()
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    }
  }

  /** Reads everything up to now. */
  async read(): Promise<void> {
    for (;;) {
      const rows = await this.#store.readAudit({ after: this.#cursor, limit: PAGE })
      for (const row of rows) this.hear(row)
      if (rows.length < PAGE) return
    }
  }

  hear({ cursor, sessionId, kind, facts }: WatchedRow): void {
    this.#cursor = cursor
    const session = this.#account(sessionId)
    switch (kind) {
      case 'compaction started':
        session.isCompacting = true
        this.#onCompaction(sessionId)
        break
      case 'compaction committed':
        session.isCompacting = false
        session.compactions += 1
        break
      case 'compaction failed':
      case 'compaction superseded':
      case 'compaction abandoned':
        session.isCompacting = false
        session.failed += 1
        if (facts['reason'] === 'aborted') session.torn += 1
        break
      case 'message admitted':
        if (session.isCompacting) session.meanwhile.add(Number(facts['mail']))
        break
      case 'turn ended':
        session.turns += 1
        break
      case 'turn recovered': {
        const recovery = `${sessionId} under fence ${String(facts['fence'])}`
        if (this.#recoveries.has(recovery)) this.recoveredTwice.push(recovery)
        this.#recoveries.add(recovery)
        break
      }
      case 'lease lost':
        this.#endLease(sessionId, facts, 'lost')
        break
      case 'lease acquired':
        if (session.isHeld) session.takeOvers += 1
        session.isHeld = true
        this.#beginLease(sessionId, facts)
        break
      case 'lease released':
        session.isHeld = false
        this.#endLease(sessionId, facts, facts['reason'] as LeaseRecord['ended'])
    }
  }

  #beginLease(sessionId: string, { fence, runner }: JsonObject): void {
    const lease = { sessionId, fence: Number(fence), runner: String(runner), ended: null }
    this.#leases.set(`${sessionId} ${lease.fence}`, lease)
  }

  #endLease(sessionId: string, { fence }: JsonObject, how: LeaseRecord['ended']): void {
    const lease = this.#leases.get(`${sessionId} ${Number(fence)}`)
    if (lease !== undefined) lease.ended = how
  }

  #account(agent: string): SessionFigures & { isHeld: boolean } {
    let known = this.#sessions.get(agent)
    if (known === undefined) {
      known = {
        ...{ compactions: 0, failed: 0, torn: 0, takeOvers: 0, turns: 0 },
        ...{ isCompacting: false, meanwhile: new Set<number>(), isHeld: false },
      }
      this.#sessions.set(agent, known)
    }
    return known
  }
}
