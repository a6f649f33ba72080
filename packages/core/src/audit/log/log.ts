import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { makeFolder } from '../../base/files/make-folder.ts'
import { firstLineHash, type NewAuditLine, writeLine } from './line.ts'

/**
 * The audit log of one process: a private file that this process creates. A line is with the kernel
 * when `write` returns, so it outlives the process. It is written after the commit and before the
 * acknowledgment, so it exists however the process dies.
 *
 * Writing never throws: a full disk must not end sessions. The failure is reported once, and the
 * gap in the line numbers stays visible.
 */
export interface AuditLogOptions {
  readonly folder: string
  readonly clock: Pick<Clock, 'now'>
  readonly onFailure?: (error: unknown) => void
}

export interface AuditWriter {
  write(line: NewAuditLine): void
}

/** For runs that keep no log. */
export const NO_AUDIT: AuditWriter = { write() {} }

export class AuditLog implements AuditWriter {
  readonly id: string
  readonly path: string
  readonly #clock: Pick<Clock, 'now'>
  readonly #onFailure: (error: unknown) => void
  #file: number | null
  #line = 0
  #hash: string
  /** The last write may have left an incomplete line. */
  #isTorn = false

  constructor({ folder, clock, onFailure = () => {} }: AuditLogOptions) {
    makeFolder(folder)
    this.id = Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString('hex')
    this.path = join(folder, `audit-${this.id}.jsonl`)
    this.#clock = clock
    this.#onFailure = onFailure
    this.#hash = firstLineHash(this.id)
    this.#file = openSync(this.path, 'ax', 0o600)
  }

  write(facts: NewAuditLine): void {
    if (this.#file === null) return
    this.#line += 1
    const time = timeText(this.#clock.now())
    const line = { ...facts, log: this.id, line: this.#line, time }
    const { text, hash } = writeLine(line, this.#hash)
    this.#hash = hash
    try {
      const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${text}\n`, 'latin1')
      // Normally one call writes a line; after a short write, a second call may fail.
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done)
      this.#isTorn = false
    } catch (error) {
      if (!this.#isTorn) this.#onFailure(error)
      this.#isTorn = true
    }
  }

  /** May be called twice; lines after it are dropped. */
  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}

/** The latest date that can be represented; a clock beyond it does not justify an error. */
const TIME_MAX = 8.64e15

function timeText(now: number): string {
  const within = Math.max(-TIME_MAX, Math.min(TIME_MAX, Math.trunc(now) || 0))
  return new Date(within).toISOString()
}

/** The identity of an operation: created once, frozen, used in every line about it. */
export interface OperationIdentity {
  readonly operationId: string
  readonly sessionId: string
  readonly fence: number
  readonly base: number
}

export function operationIdentity(identity: OperationIdentity): OperationIdentity {
  const { operationId, sessionId, fence, base } = identity
  return Object.freeze({ operationId, sessionId, fence, base })
}
