import type { RuntimeEvent } from '../../packages/core/src/session/events/runtime-event.ts'
import { readEvents } from '../support/read-events.ts'

export type Seen = RuntimeEvent & { readonly seenAt: number }
export type Live<Kind extends string> = Extract<Seen, { type: 'live'; kind: Kind }>

const WAIT_MS = 20_000

/** Somebody who watches a session over HTTP, and notes when each thing was seen. */
export class Follower {
  readonly seen: Seen[] = []
  readonly #stop = new AbortController()
  #wake = () => {}

  /** Resolves when everything from now on will be seen. */
  static async open(url: string): Promise<Follower> {
    const follower = new Follower()
    const response = await fetch(url, { signal: follower.#stop.signal })
    if (response.body === null) throw new Error(`No events at ${url}.`)
    void follower.#read(response.body)
    await follower.until((event) => event.type === 'caught-up')
    return follower
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const { type, data } of readEvents(body)) {
        this.seen.push({ type, ...(data as object), seenAt: performance.now() } as Seen)
        this.#wake()
      }
    } catch {
      // The server ended, or we did.
    }
    this.#wake()
  }

  /** The first event from `from` on that passes. */
  async until(test: (event: Seen) => boolean, from = 0, waitMs = WAIT_MS): Promise<Seen> {
    const deadline = performance.now() + waitMs
    for (;;) {
      const found = this.seen.slice(from).find(test)
      if (found !== undefined) return found
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) throw new Error(`Not seen in ${waitMs} ms: ${test}\n${this.told}`)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      const timer = setTimeout(resolve, leftMs)
      await promise
      clearTimeout(timer)
    }
  }

  /** The n-th end of a turn that is seen. */
  async turnEnd(n = 1): Promise<Extract<Seen, { type: 'stored' }>> {
    const ends = () => this.stored('turn ended')
    await this.until(() => ends().length >= n)
    return ends()[n - 1] as Extract<Seen, { type: 'stored' }>
  }

  live<Kind extends 'delta' | 'void' | 'notice' | 'call'>(kind: Kind): readonly Live<Kind>[] {
    return this.seen.filter((event) => event.type === 'live' && event.kind === kind) as Live<Kind>[]
  }

  stored(kind: string): readonly Extract<Seen, { type: 'stored' }>[] {
    return this.seen.filter((event) => event.type === 'stored').filter((e) => e.kind === kind)
  }

  get told(): string {
    return this.seen.map((event) => ('kind' in event ? event.kind : event.type)).join(' | ')
  }

  close(): void {
    this.#stop.abort()
  }
}
