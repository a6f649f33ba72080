import type { ServerResponse } from 'node:http'
import {
  setImmediate as setImmediatePromise,
  setTimeout as setTimeoutPromise,
} from 'node:timers/promises'
import type { RuntimeEvent } from '#core/session/events/runtime-event'

/**
 * Server-sent events. One timer keeps all streams alive, so an idle stream costs little more than
 * its socket. The stream waits for a slow client; meanwhile the runtime drops live events for it
 * and later reads the stored ones. A stream ends if its client reads nothing for too long, or if
 * its token was removed or has expired, which is checked before each delivery and at each
 * heartbeat.
 */
const RETRY = 'retry: 2000\n\n'
const HEARTBEAT = ': \n\n'
/** Events delivered per check of the token. */
const BATCH_MAX = 64
/** How often the token check is retried while the store is unavailable; events wait meanwhile. */
const ASK_AGAIN_MS = 250

/** JSON text has no line breaks, so an event is always one line of data. */
export function frameEvent(event: RuntimeEvent): string {
  const { type, ...rest } = event
  const id = 'cursor' in event ? `id: ${event.cursor}\n` : ''
  return `${id}event: ${type}\ndata: ${JSON.stringify(rest)}\n\n`
}

export class EventStreams {
  readonly #open = new Map<ServerResponse, () => Promise<boolean>>()
  readonly #stallMs: number
  readonly #timer: NodeJS.Timeout

  constructor(times: { readonly heartbeatMs: number; readonly stallMs: number }) {
    this.#stallMs = times.stallMs
    this.#timer = setInterval(() => void this.#beat(), times.heartbeatMs)
    this.#timer.unref()
  }

  get size(): number {
    return this.#open.size
  }

  /** Runs until the events end; the request's signal ends them. */
  async send(
    outgoing: ServerResponse,
    events: AsyncIterable<RuntimeEvent>,
    isStillAllowed: () => Promise<boolean>,
  ): Promise<void> {
    this.#open.set(outgoing, isStillAllowed)
    try {
      outgoing.write(RETRY)
      for await (const batch of batches(events)) {
        if (!(await mayDeliver(outgoing, isStillAllowed))) {
          outgoing.destroy()
          return
        }
        if (!outgoing.write(batch.map(frameEvent).join(''))) await this.#drained(outgoing)
      }
      outgoing.end()
    } finally {
      this.#open.delete(outgoing)
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #beat(): Promise<void> {
    for (const outgoing of this.#open.keys()) {
      if (outgoing.writableLength === 0) outgoing.write(HEARTBEAT)
    }
    // One after another, so that one lookup of a token serves all of its streams.
    for (const [outgoing, isStillAllowed] of this.#open) {
      // A heartbeat carries no data, so a busy store does not end the stream.
      if (!(await isStillAllowed().catch(() => true))) outgoing.destroy()
    }
  }

  #drained(outgoing: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        outgoing.off('drain', end)
        outgoing.off('close', end)
        resolve()
      }
      const timer = setTimeout(() => outgoing.destroy(), this.#stallMs)
      outgoing.on('drain', end)
      outgoing.on('close', end)
    })
  }
}

async function mayDeliver(
  outgoing: ServerResponse,
  isStillAllowed: () => Promise<boolean>,
): Promise<boolean> {
  while (!outgoing.destroyed) {
    const answer = await isStillAllowed().catch(() => null)
    if (answer !== null) return answer
    await setTimeoutPromise(ASK_AGAIN_MS)
  }
  return false
}

/** Groups events that are available at once; the token is looked up after the last of them. */
async function* batches(
  events: AsyncIterable<RuntimeEvent>,
): AsyncGenerator<readonly RuntimeEvent[]> {
  const iterator = events[Symbol.asyncIterator]()
  // An early error is thrown when its result is awaited.
  const pull = () => {
    const next = iterator.next()
    next.catch(() => {})
    return next
  }
  try {
    let next = pull()
    for (let result = await next; !result.done; result = await next) {
      const batch = [result.value]
      const turn = setImmediatePromise(null)
      next = pull()
      while (batch.length < BATCH_MAX) {
        const more = await Promise.race([next, turn])
        if (more === null || more.done) break
        batch.push(more.value)
        next = pull()
      }
      yield batch
    }
  } finally {
    // It may be waiting for an event; the request's signal ends it.
    iterator.return?.().catch(() => {})
  }
}
