import { KnownError } from '#core/base/errors'

/** Nothing was written, or the unfinished copy was removed. */
export class RepairRefusedError extends KnownError {
  override readonly name = 'RepairRefusedError'
  readonly code = 'repair-refused'
  readonly retryable = false
  readonly facts: { readonly path: string; readonly problem: string }

  constructor(facts: RepairRefusedError['facts'], options?: ErrorOptions) {
    super(`${facts.path}: ${facts.problem}`, options)
    this.facts = facts
  }
}
