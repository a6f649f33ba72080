import { KnownError } from '../base/errors.ts'

/**
 * Operating errors of every engine. Facts are plain data, so that a worker thread can pass them on.
 */
export abstract class StoreError extends KnownError {
  abstract readonly facts: { readonly [name: string]: string | number | undefined }
}

export class InvalidBodyError extends StoreError {
  override readonly name = 'InvalidBodyError'
  readonly code = 'invalid-body'
  readonly retryable = false
  readonly facts: { readonly problem: string }

  constructor(facts: InvalidBodyError['facts']) {
    super(`A body must be plain JSON, but this one ${facts.problem}.`)
    this.facts = facts
  }
}

/** The caller has a bug: no state of the store allows this request. */
export class InvalidRequestError extends StoreError {
  override readonly name = 'InvalidRequestError'
  readonly code = 'invalid-request'
  readonly retryable = false
  readonly facts: { readonly problem: string }

  constructor(facts: InvalidRequestError['facts']) {
    super(facts.problem)
    this.facts = facts
  }
}

export class UnknownSessionError extends StoreError {
  override readonly name = 'UnknownSessionError'
  readonly code = 'unknown-session'
  readonly retryable = false
  readonly facts: { readonly sessionId: string }

  constructor(facts: UnknownSessionError['facts']) {
    super(`No session ${JSON.stringify(facts.sessionId.slice(0, 80))} in this store.`)
    this.facts = facts
  }
}

/** Thrown before anything was acknowledged: nothing was written, and the call may be repeated. */
export class StoreBusyError extends StoreError {
  override readonly name = 'StoreBusyError'
  readonly code = 'store-busy'
  readonly retryable = true
  readonly facts: { readonly waitedMs: number; readonly problem: string }

  constructor(facts: StoreBusyError['facts']) {
    super(
      `The store cannot be used now: ${facts.problem} (waited ${Math.round(facts.waitedMs)} ms).`,
    )
    this.facts = facts
  }
}

export class StoreFullError extends StoreError {
  override readonly name = 'StoreFullError'
  readonly code = 'store-full'
  readonly retryable = true
  readonly facts: { readonly path: string }

  constructor(facts: StoreFullError['facts']) {
    super(`No space left for ${facts.path}. Nothing was written; free some space and try again.`)
    this.facts = facts
  }
}

export class StoreReadOnlyError extends StoreError {
  override readonly name = 'StoreReadOnlyError'
  readonly code = 'store-read-only'
  readonly retryable = false
  readonly facts: { readonly path: string; readonly problem: string }

  constructor(facts: StoreReadOnlyError['facts']) {
    super(
      `${facts.path} cannot be opened or written (${facts.problem}). The user that runs this must be allowed to read and write it.`,
    )
    this.facts = facts
  }
}

/** Fail closed (I26): reads continue, but nothing is acknowledged until a person acts. */
export class StoreDamagedError extends StoreError {
  override readonly name = 'StoreDamagedError'
  readonly code = 'store-damaged'
  readonly retryable = false
  readonly facts: { readonly path: string; readonly problem: string }

  constructor(facts: StoreDamagedError['facts']) {
    super(`${facts.path} is not in order: ${facts.problem}`)
    this.facts = facts
  }
}

/** One row is damaged or missing. Requests that need it fail; all others continue. */
export class DamagedRowError extends StoreError {
  override readonly name = 'DamagedRowError'
  readonly code = 'damaged-row'
  readonly retryable = false
  /** `row` is for people. Column values are left out, since they may be private text. */
  readonly facts: {
    readonly row: string
    readonly problem: string
    readonly column?: string
    /** A problem that `verify` found names the row or part that has it. */
    readonly foundBy?: 'verify'
    /** Present if the row's session is known. */
    readonly sessionId?: string
    /** What to do, if no backup is needed. */
    readonly remedy?: string
  }

  constructor(facts: DamagedRowError['facts']) {
    const where = facts.column === undefined ? 'it' : `its column ${facts.column}`
    const told =
      facts.foundBy === 'verify'
        ? `The data of ${facts.row} is damaged: ${facts.problem}`
        : `The row of ${facts.row} is damaged: ${where} ${facts.problem}`
    const remedy = facts.remedy ?? 'Restore a backup; `throughline doctor` lists all damage.'
    super(`${told}. Nothing was written, and other data is not affected. ${remedy}`)
    this.facts = facts
  }
}

/** This program must not write to the file or its drive, or not with this SQLite library. */
export class StoreRefusedError extends StoreError {
  override readonly name = 'StoreRefusedError'
  readonly code = 'store-refused'
  readonly retryable = false
  readonly facts: { readonly path: string; readonly problem: string }

  constructor(facts: StoreRefusedError['facts'], options?: ErrorOptions) {
    super(`Will not open ${facts.path}: ${facts.problem}`, options)
    this.facts = facts
  }
}

export class StoreClosedError extends StoreError {
  override readonly name = 'StoreClosedError'
  readonly code = 'store-closed'
  readonly retryable = false
  readonly facts: { readonly verb: string }

  constructor(facts: StoreClosedError['facts']) {
    super(`The store is closed; ${facts.verb} was not carried out.`)
    this.facts = facts
  }
}

/** The commit may or may not have happened: look up the operation id before repeating it. */
export class OutcomeUnknownError extends StoreError {
  override readonly name = 'OutcomeUnknownError'
  readonly code = 'outcome-unknown'
  readonly retryable = false
  readonly facts: { readonly verb: string; readonly problem: string }

  constructor(facts: OutcomeUnknownError['facts']) {
    super(`Whether ${facts.verb} was committed is unknown: ${facts.problem}`)
    this.facts = facts
  }
}
