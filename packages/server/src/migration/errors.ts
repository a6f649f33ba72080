import { KnownError } from '#core/base/errors'

export class ImportFailedError extends KnownError {
  override readonly name = 'ImportFailedError'
  readonly code = 'import-failed'
  readonly retryable = true
  readonly facts: { readonly sessionId: string; readonly problem: string }

  constructor(facts: ImportFailedError['facts']) {
    super(`Session ${facts.sessionId}: ${facts.problem}.`)
    this.facts = facts
  }
}

/** The path is not what the command expects; nothing was changed. */
export class NothingToImportError extends KnownError {
  override readonly name = 'NothingToImportError'
  readonly code = 'nothing-to-import'
  readonly retryable = false
  readonly facts: { readonly path: string; readonly problem: string }

  constructor(facts: NothingToImportError['facts']) {
    super(`${facts.path}: ${facts.problem}.`)
    this.facts = facts
  }
}
