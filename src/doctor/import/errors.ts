import { KnownError } from '../../base/errors.ts'

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
