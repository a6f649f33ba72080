import type { CommitVerb, RequestOf } from '../contract.ts'
import { StoreBusyError } from '../errors.ts'

/** How many commits may wait in this process before more are refused (I24). */
const WAITING_MAX = 10_000

/**
 * Runs this process's commits on one session one at a time, in call order. They would wait for each
 * other on the server anyway, each holding a connection that other sessions could use.
 */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()
  #waiting = 0

  async take<Value>(queue: string | null, work: () => Promise<Value>): Promise<Value> {
    if (this.#waiting >= WAITING_MAX) {
      throw new StoreBusyError({ waitedMs: 0, problem: `${WAITING_MAX} commits already wait` })
    }
    if (queue === null) return work()
    this.#waiting += 1
    const before = this.#last.get(queue)
    const mine = (before ?? Promise.resolve()).then(() => {
      this.#waiting -= 1
      return work()
    })
    const settled = mine.then(
      () => {},
      () => {},
    )
    this.#last.set(queue, settled)
    try {
      return await mine
    } finally {
      if (this.#last.get(queue) === settled) this.#last.delete(queue)
    }
  }
}

/** The session or route that a request names; null if it names none or several. */
export function queueOf(request: RequestOf<CommitVerb>): string | null {
  if ('lease' in request) return request.lease.sessionId
  if ('to' in request) {
    return 'sessionId' in request.to ? request.to.sessionId : JSON.stringify(request.to.route)
  }
  return 'sessionId' in request ? request.sessionId : null
}
