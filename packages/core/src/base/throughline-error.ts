import { KnownError } from './errors.ts'

/** Every code of a `ThroughlineError`; docs/guides/library.md explains each of them. */
export const ERROR_CODES = [
  'already-replied',
  'closed',
  'invalid-message',
  'invalid-option',
  'no-json-schema',
  'operation-conflict',
  'outcome-unknown',
  'reply-missing',
  'step-timeout',
  'suffix-mismatch',
  'too-large',
  'tool-timeout',
  'unknown-format',
  'unserialisable-output',
  'wrong-format',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * The library was misused, or a function that you passed to it broke its contract. `code` never
 * changes; `message` says what happened and what to do.
 */
export class ThroughlineError extends KnownError {
  override readonly name = 'ThroughlineError'
  readonly code: ErrorCode
  readonly retryable: boolean
  /** The option, field or message that is wrong, such as `contextWindow` or `messages[3]`. */
  readonly at: string | undefined

  constructor(
    code: ErrorCode,
    message: string,
    more: { readonly at?: string; readonly retryable?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.code = code
    this.retryable = more.retryable ?? false
    this.at = more.at
  }
}

/** Also true for an error of another copy of this package, where `instanceof` is false. */
export function isThroughlineError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code,
): error is ThroughlineError & { readonly code: Code } {
  if (!(error instanceof Error) || error.name !== 'ThroughlineError' || !('code' in error)) {
    return false
  }
  return code === undefined || error.code === code
}
