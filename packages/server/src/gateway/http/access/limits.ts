import type { Clock } from '#core/base/clock'
import type { JsonLimits } from '../json-body.ts'
import { HttpProblem } from '../problems.ts'

/** Limits on everything that a client could make grow. */
export interface HttpLimits extends JsonLimits {
  readonly bodyBytesMax: number
  readonly headerBytesMax: number
  /** Time limits for the headers and for the whole request to arrive. */
  readonly headersMs: number
  readonly requestMs: number
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
  /**
   * Per token, or for all callers together if no token is needed; bursts of two seconds' worth are
   * allowed.
   */
  readonly requestsPerMinute: number
  /** Requests without a valid token, per address; callers with one are not counted. */
  readonly failuresPerMinute: number
  readonly streamsMax: number
  readonly streamsPerTokenMax: number
  /** How long `wait=reply` holds a request. */
  readonly waitMsMax: number
  readonly heartbeatMs: number
  /** A stream or a large answer whose client reads nothing for this long is ended. */
  readonly stallMs: number
  /** Large answers that were sent and not read yet; beyond that the oldest are ended. */
  readonly unreadBytesMax: number
  /** How long close() waits for running requests. */
  readonly graceMs: number
}

export const HTTP_LIMITS: HttpLimits = {
  bodyBytesMax: 1024 * 1024,
  depthMax: 64,
  valuesMax: 50_000,
  headerBytesMax: 16 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  connectionsMax: 1_000,
  connectionsPerAddressMax: 300,
  requestsPerMinute: 30_000,
  failuresPerMinute: 30,
  streamsMax: 500,
  streamsPerTokenMax: 150,
  waitMsMax: 600_000,
  heartbeatMs: 15_000,
  stallMs: 60_000,
  unreadBytesMax: 128 * 1024 * 1024,
  graceMs: 10_000,
}

/** Names remembered at once; a flood of new names evicts only full buckets. */
const BUCKETS_MAX = 10_000

/** A token bucket per name, refilled at a steady rate; an empty one refuses. */
export class RateLimit {
  readonly #clock: Clock
  readonly #perSecond: number
  readonly #size: number
  readonly #buckets = new Map<string, { level: number; at: number }>()

  constructor(clock: Clock, rate: { readonly perSecond: number; readonly size: number }) {
    this.#clock = clock
    this.#perSecond = rate.perSecond
    this.#size = rate.size
  }

  /** 0: taken. Otherwise the seconds until the next request is allowed. */
  take(name: string): number {
    const bucket = this.#fill(name)
    if (bucket.level < 1) return (1 - bucket.level) / this.#perSecond
    bucket.level -= 1
    return 0
  }

  #fill(name: string): { level: number; at: number } {
    const now = this.#clock.monotonic()
    const known = this.#buckets.get(name)
    if (known === undefined) {
      if (this.#buckets.size >= BUCKETS_MAX) this.#forget(now)
      const bucket = { level: this.#size, at: now }
      this.#buckets.set(name, bucket)
      return bucket
    }
    known.level = this.#levelOf(known, now)
    known.at = now
    return known
  }

  #levelOf(bucket: { level: number; at: number }, now: number): number {
    return Math.min(this.#size, bucket.level + ((now - bucket.at) / 1_000) * this.#perSecond)
  }

  /** Full buckets carry no information; if all are in use, the oldest is dropped. */
  #forget(now: number): void {
    for (const [name, bucket] of this.#buckets) {
      if (this.#levelOf(bucket, now) >= this.#size) this.#buckets.delete(name)
    }
    const [oldest] = this.#buckets.keys()
    if (oldest !== undefined && this.#buckets.size >= BUCKETS_MAX) this.#buckets.delete(oldest)
  }
}

export function take(limit: RateLimit, name: string): void {
  const waitSeconds = limit.take(name)
  if (waitSeconds > 0) throw rateLimited(waitSeconds)
}

export function rateLimited(waitSeconds: number): HttpProblem {
  const headers = { 'retry-after': `${Math.ceil(waitSeconds)}` }
  return new HttpProblem('rate-limited', { headers })
}

/** Counts what each name, and all names together, hold open. */
export class SlotPool {
  readonly #max: number
  readonly #maxPerName: number
  readonly #counts = new Map<string, number>()
  #total = 0

  constructor(max: { readonly total: number; readonly perName: number }) {
    this.#max = max.total
    this.#maxPerName = max.perName
  }

  get total(): number {
    return this.#total
  }

  /** Whether only the total limit could refuse this name. */
  hasShare(name: string | null): boolean {
    return name === null || (this.#counts.get(name) ?? 0) < this.#maxPerName
  }

  /**
   * Undefined: full. Otherwise a function that releases the slot, once. A null name counts for the
   * total only.
   */
  enter(name: string | null): (() => void) | undefined {
    if (this.#total >= this.#max || !this.hasShare(name)) return undefined
    this.#total++
    if (name !== null) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      this.#total--
      if (name === null) return
      const left = (this.#counts.get(name) ?? 1) - 1
      if (left === 0) this.#counts.delete(name)
      else this.#counts.set(name, left)
    }
  }
}
