/**
 * Operating errors: failures outside our code, and what the caller can do about them. Outcomes that
 * a careful caller expects are values instead; broken assumptions of our own are plain errors.
 */
export abstract class KnownError extends Error {
  /** Stable and in kebab-case, for scripts and tables. */
  abstract readonly code: string
  abstract readonly retryable: boolean
}
