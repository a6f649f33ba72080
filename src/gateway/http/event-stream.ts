import type { ServerResponse } from 'node:http'
import type { RuntimeEvent } from '../../runtime/runtime.ts'

/**
 * Server-sent events. One timer keeps all streams alive: an idle one costs its socket and little more.
 * A client that reads slowly is waited for; the runtime drops live events for it meanwhile and reads
 * the stored ones again. One that takes nothing at all for too long is ended, and so is one whose
 * token was removed or ran out.
 */
const RETRY = 'retry: 2000\n\n'
const HEARTBEAT = ': \n\n'

/** JSON has no line breaks of its own, so an event is always one line of data. */
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

  /** Until the events end, which the signal of whoever made them brings about. */
  async send(
    outgoing: ServerResponse,
    events: AsyncIterable<RuntimeEvent>,
    isStillAllowed: () => Promise<boolean>,
  ): Promise<void> {
    this.#open.set(outgoing, isStillAllowed)
    try {
      outgoing.write(RETRY)
      for await (const event of events) {
        if (outgoing.destroyed) return
        if (!outgoing.write(frameEvent(event))) await this.#drained(outgoing)
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
    // One after another: a token is looked up once for all of its streams.
    for (const [outgoing, isStillAllowed] of this.#open) {
      if (!(await isStillAllowed())) outgoing.destroy()
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
