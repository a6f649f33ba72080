import { KnownError } from '#core/base/errors'

/** Nothing was written. */
export class ExportRefusedError extends KnownError {
  override readonly name = 'ExportRefusedError'
  readonly code = 'export-refused'
  readonly retryable = false
  readonly facts: { readonly what: string; readonly problem: string }

  constructor(facts: ExportRefusedError['facts']) {
    super(`${facts.what}: ${facts.problem}`)
    this.facts = facts
  }
}
