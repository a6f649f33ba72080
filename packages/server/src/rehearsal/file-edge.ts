import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Edge } from '../runtime/runtime.ts'
import { EDGE, SENT_FILE } from './terms.ts'

/** Sending takes a moment, so that another process may try to send the same reply. */
const SEND_MS = 120

/**
 * An edge that writes each reply to a file outside every store. It can be closed; then replies wait
 * in order.
 */
export class FileEdge implements Edge {
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
