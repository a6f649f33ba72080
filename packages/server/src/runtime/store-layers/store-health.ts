import { existsSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { type Clock, pause } from '#core/base/clock'
import { draftOf } from '#core/base/files/drafts'
import type { Logger } from '#core/base/logger'
import type { CommitVerb, OutcomeOf, RequestOf, Store } from '#core/store/contract'
import {
  StoreDamagedError,
  type StoreError,
  StoreFullError,
  StoreReadOnlyError,
} from '#core/store/errors'
import { RULES } from '#core/store/rules/rules'

/**
 * Whether the store accepts writes. *sound* until a commit fails for lack of space or permission;
 * then *failing*, reported once, until a commit succeeds or, if space was missing, a file can be
 * written beside the store. On a full disk only a new message proves anything: other commits may
 * write nothing new.
 */
export const PROBE_EVERY_MS = 5_000
const PROBE_BYTES = 256 * 1024

export class StoreHealth {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #closing = new AbortController()
  #problem: StoreError | null = null
  #isProbed = false
  #isProbing = false
  #probing: Promise<void> = Promise.resolve()

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock
    this.#logger = logger
  }

  /** The current problem; null: none known. */
  get problem(): StoreError | null {
    return this.#problem
  }

  /** Wraps the store to observe the outcomes of its commits. */
  heard(store: Store): Store {
    const verbs: Record<string, unknown> = {}
    for (const verb of Object.keys(RULES) as CommitVerb[]) verbs[verb] = this.#verb(store, verb)
    return { ...store, ...(verbs as Partial<Store>) }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#probing
  }

  #verb<Verb extends CommitVerb>(store: Store, verb: Verb) {
    const commit = store[verb] as (request: RequestOf<Verb>) => Promise<OutcomeOf<Verb>>
    return async (request: RequestOf<Verb>): Promise<OutcomeOf<Verb>> => {
      try {
        const outcome = await commit(request)
        const proves = !this.#isProbed || (verb === 'admit' && outcome.kind === 'admitted')
        if (this.#problem !== null && proves) this.#end()
        return outcome
      } catch (error) {
        if (isWriteFailure(error)) this.#begin(error)
        throw error
      }
    }
  }

  #begin(problem: StoreError): void {
    if (this.#problem !== null) return
    this.#problem = problem
    this.#logger.error({ code: problem.code, ...problem.facts }, 'store takes nothing')
    const { path = '' } = problem.facts
    // The disk of a database server cannot be checked.
    this.#isProbed = problem instanceof StoreFullError && existsSync(String(path))
    if (this.#isProbed && !this.#isProbing) this.#probing = this.#probe(String(path))
  }

  #end(): void {
    if (this.#problem === null) return
    this.#problem = null
    this.#logger.info({}, 'store takes what is written again')
  }

  async #probe(path: string): Promise<void> {
    const { signal } = this.#closing
    this.#isProbing = true
    while (this.#problem !== null && !signal.aborted) {
      await pause(this.#clock, PROBE_EVERY_MS, signal)
      if (this.#problem !== null && !signal.aborted && (await hasSpaceBeside(path))) this.#end()
    }
    this.#isProbing = false
  }
}

function isWriteFailure(error: unknown): error is StoreError {
  return (
    error instanceof StoreFullError ||
    error instanceof StoreReadOnlyError ||
    error instanceof StoreDamagedError
  )
}

async function hasSpaceBeside(path: string): Promise<boolean> {
  // Named like a draft of the anchor, so that one of a killed process is removed with those.
  const probe = draftOf(`${path}.anchor`)
  try {
    // Exclusively: in a shared folder it could be a link of another user.
    const file = await open(probe, 'wx', 0o600)
    try {
      await file.writeFile(Buffer.alloc(PROBE_BYTES, 1))
      await file.sync()
    } finally {
      await file.close()
    }
    return true
  } catch {
    return false
  } finally {
    await rm(probe, { force: true }).catch(() => {})
  }
}
