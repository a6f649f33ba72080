import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Edge } from '../../runtime/runtime.ts'
import { EDGE, SENT_FILE } from './terms.ts'

/** Sending takes a moment, in which somebody else may want to send the same. */
const SEND_MS = 120

/**
 * An edge that leads out of the rehearsal: what is sent by it stands in a file that no store has a
 * hand in. It can be shut, and then replies wait in the order they were given.
 */
export class Letterbox implements Edge {
  readonly name = EDGE
  readonly #file: string
  #opened = Promise.resolve()
  #open = () => {}

  constructor(folder: string) {
    this.#file = join(folder, SENT_FILE)
  }

  open(isOpen: boolean): void {
    if (isOpen) this.#open()
    else {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#opened = promise
      this.#open = resolve
    }
  }

  async send({ sessionId, number, attempt, claimant }: Parameters<Edge['send']>[0]) {
    await this.#opened
    appendFileSync(this.#file, `${[sessionId, number, attempt, claimant].join(' ')}\n`)
    await new Promise((resolve) => setTimeout(resolve, SEND_MS))
    return { kind: 'sent', receipt: `${number}` } as const
  }
}
