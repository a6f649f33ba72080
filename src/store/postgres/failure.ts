import { StoreBusyError, StoreFullError, StoreReadOnlyError } from '../errors.ts'

/**
 * What an error of the driver means. The one question that matters is whether the server may have
 * committed: it may, when the connection broke after `commit` was sent (126 of 130 had). An answer
 * with any other code is the server's word that the transaction is gone.
 */
export type FailureKind =
  /** The connection is no more, or none was to be had. */
  | 'connection'
  /** Somebody else was first; nothing was written and the same call may now end otherwise. */
  | 'conflict'
  | 'refused'

const CONFLICTS = new Set([
  '40001', // serialisation failure
  '40P01', // deadlock
  '23505', // a row that was not there when the rule looked
])
/** Too many connections, shutting down, crashed, starting up, idle for too long. */
const NO_CONNECTION = new Set(['53300', '57P01', '57P02', '57P03', '57P05', '25P03'])

/** Whatever the driver or the server threw; mistakes of our own never look like one. */
export class ServerFailure extends Error {
  override readonly name = 'ServerFailure'
  /** The SQLSTATE, the socket's code, or nothing. */
  readonly code: string
  readonly kind: FailureKind

  constructor(cause: unknown) {
    super(messageOf(cause), { cause })
    this.code = String((cause as { readonly code?: unknown } | null)?.code ?? '')
    this.kind = kindOf(this.code)
  }
}

function kindOf(code: string): FailureKind {
  if (CONFLICTS.has(code)) return 'conflict'
  // The driver's own errors have no SQLSTATE: a socket's `EPIPE`, or no code at all.
  const isState = /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code)
  if (!isState || code.startsWith('08') || NO_CONNECTION.has(code)) return 'connection'
  return 'refused'
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** In the words of the store; what is a mistake of ours stays what it is. */
export function translate(error: unknown, place: string, waitedMs: number): unknown {
  if (!(error instanceof ServerFailure)) return error
  const problem = error.message
  switch (error.code) {
    case '53100':
      return new StoreFullError({ path: place })
    case '25006':
      return new StoreReadOnlyError({ path: place, problem })
    case '57014':
    case '55P03':
      return new StoreBusyError({ waitedMs, problem: `the server gave up (${problem})` })
    default:
  }
  if (error.kind === 'refused') return error
  const what = error.kind === 'conflict' ? 'others were always first' : `${place} does not answer`
  return new StoreBusyError({ waitedMs, problem: `${what} (${problem})` })
}
