import { KnownError } from '../base/errors.ts'

/** The given conversation cannot be read; the message says where, and what to do. */
export class InputError extends KnownError {
  override readonly name = 'InputError'
  readonly code = 'bad-input'
  readonly retryable = false
  /** Counted from 1, where a place in the text is to blame. */
  readonly position: { readonly line: number; readonly column: number } | undefined

  constructor(message: string, position?: InputError['position']) {
    super(message)
    this.position = position
  }
}
