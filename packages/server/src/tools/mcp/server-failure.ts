import { shortText } from './clean-text.ts'

/**
 * Why a server does not run. The reason is in our own words, for logs and operators. The server's
 * own text may quote a conversation or a key, so only the model that uses the server sees it.
 */
export interface McpServerFailure {
  readonly reason: string
  readonly words: string
}

/** A failure that we detected ourselves. */
export class ServerFailureError extends Error {
  override readonly name = 'ServerTrouble'
  readonly words: string

  constructor(reason: string, words = '', options: ErrorOptions = {}) {
    super(reason, options)
    this.words = words
  }
}

const WORDS_MAX = 2_000

/** For the model. */
export function explainFailure({ reason, words }: McpServerFailure): string {
  return words === '' ? reason : `${reason}; ${words}`
}

/** It may contain text of the server. */
export function serverText(error: unknown): string {
  return shortText(error instanceof Error ? error.message : String(error), WORDS_MAX)
}
