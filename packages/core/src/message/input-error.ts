import { KnownError } from '../base/errors.ts'

/** The conversation cannot be read; `message` says where and what to do. */
export class InputError extends KnownError {
  override readonly name = 'InputError'
  readonly code = 'bad-input'
  readonly retryable = false
  /** Counted from 1; only for errors at a position in the text. */
  readonly position: { readonly line: number; readonly column: number } | undefined

  constructor(message: string, position?: InputError['position']) {
    super(message)
    this.position = position
  }
}
