import { KnownError } from '#core/base/errors'

/** Why a file is not a usable Hermes store. Nothing was written to it. */
export type StoreVerdict =
  | 'missing'
  | 'unreadable'
  | 'not-a-database'
  | 'empty'
  | 'damaged'
  | 'foreign'
  | 'no-room'
  | 'changing'

export class HermesStoreError extends KnownError {
  override readonly name = 'HermesStoreError'
  readonly code = 'hermes-store-unreadable'
  readonly retryable: boolean
  readonly facts: {
    readonly path: string
    readonly verdict: StoreVerdict
    readonly problem: string
  }

  constructor(facts: HermesStoreError['facts'], options?: ErrorOptions) {
    super(`${facts.path}: ${facts.problem}`, options)
    this.facts = facts
    this.retryable = facts.verdict === 'changing'
  }
}
