import { KnownError } from '#core/base/errors'

/** The request itself is at fault: a flag, a path, a file that is not what it should be. */
export class UsageError extends KnownError {
  override readonly name = 'UsageError'
  readonly code = 'usage'
  readonly retryable = false
}

/** The request was right and could not be carried out. */
export class FailedError extends KnownError {
  override readonly name = 'FailedError'
  readonly code = 'failed'
  readonly retryable = false
}
