import { KnownError } from '../base/errors.ts'

/** What the program tells scripts. README and docs/guides/commands.md are held against it by tests. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  nothingToCut: 3,
  cannotFit: 4,
} as const

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
