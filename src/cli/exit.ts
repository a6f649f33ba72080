import { KnownError } from '../base/errors.ts'

/** What the program tells scripts. The README's table is held against this one by a test. */
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
