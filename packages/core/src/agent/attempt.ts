import type { JsonValue } from '../base/json.ts'
import { show } from '../base/option-checks.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import { findOverflow } from '../message/dialects/overflow.ts'
import { reportedErrorOf } from '../message/dialects/provider-error.ts'

/** Throw it from `step` when the provider says "too long" in words that are not recognized. */
export class ContextTooLongError extends Error {
  override readonly name = 'ContextTooLongError'
  readonly limitTokens: number | undefined

  constructor(limitTokens?: number) {
    super('The context is longer than the model takes.')
    this.limitTokens = limitTokens
  }
}

/** The fields of the libraries' errors. */
interface LibraryError {
  readonly status?: unknown
  readonly statusCode?: unknown
  readonly code?: unknown
  readonly isRetryable?: unknown
  readonly error?: unknown
  readonly responseBody?: unknown
}

/** Whether an error of a library says that the context is too long: then the session compacts. */
export function overflowIn(
  error: unknown,
): { readonly kind: 'overflow'; readonly limitTokens?: number } | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof ContextTooLongError) {
    const { limitTokens } = error
    return { kind: 'overflow', ...(limitTokens !== undefined && { limitTokens }) }
  }
  const { error: body, responseBody, code } = error as LibraryError
  const status = statusOf(error as LibraryError)
  if (status === undefined) return undefined
  const said = { code: String(code ?? ''), message: error.message }
  const found = [body, responseBody, said]
    .map((each) => findOverflow(reportedErrorOf(each as JsonValue | undefined, status)))
    .find((each) => each !== undefined)
  return found && { kind: 'overflow' }
}

function statusOf(error: LibraryError): number | undefined {
  const status = error.status ?? error.statusCode
  return typeof status === 'number' ? status : undefined
}

const NETWORK = /APIConnection|ECONN|EPIPE|ETIMEDOUT|fetch failed|network|socket/i

/** Network errors, 408, 409, 429 and 5xx. A mistake in `step` itself is no reason to try again. */
export function mayRetry(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof ThroughlineError) return error.retryable
  const { isRetryable, code } = error as LibraryError
  if (typeof isRetryable === 'boolean') return isRetryable
  const status = statusOf(error as LibraryError)
  if (status !== undefined) return [408, 409, 429].includes(status) || status >= 500
  return NETWORK.test(`${error.name} ${String(code ?? '')} ${error.message}`)
}

export function textOfError(error: unknown): string {
  if (error instanceof Error) return error.message
  if (typeof error === 'string') return error
  const { message } = (error ?? {}) as { readonly message?: unknown }
  return typeof message === 'string' ? message : `${show(error)} was thrown, which is no Error.`
}

/**
 * Calls a listener of the program. Adds an error that it throws to the text, instead of failing.
 */
export function callListener(text: string, name: string, listen: () => void): string {
  try {
    listen()
    return text
  } catch (error) {
    return `${text} (And "${name}" threw: ${textOfError(error)})`
  }
}

/** Code that ignores its signal does not block the session. */
export async function untilAborted<Value>(
  work: () => Value | Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    signal.throwIfAborted()
    return await Promise.race([Promise.resolve().then(work), promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** A signal that also aborts after a time; `end` takes its timer away. */
export function withDeadline(signal: AbortSignal, delayMs: number) {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error('deadline')), delayMs)
  return {
    signal: AbortSignal.any([signal, late.signal]),
    isOver: () => late.signal.aborted,
    end: () => clearTimeout(timer),
  }
}
