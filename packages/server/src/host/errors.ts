import { KnownError } from '#core/base/errors'

/** The request itself is wrong: a flag, a path, an invalid file. */
export class UsageError extends KnownError {
  override readonly name = 'UsageError'
  readonly code = 'usage'
  readonly retryable = false
}

/** The request was valid but failed. */
export class FailedError extends KnownError {
  override readonly name = 'FailedError'
  readonly code = 'failed'
  readonly retryable = false
}
