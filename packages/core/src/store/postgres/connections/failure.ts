import {
  StoreBusyError,
  StoreDamagedError,
  StoreFullError,
  StoreReadOnlyError,
  StoreRefusedError,
} from '../../errors.ts'

/**
 * The meaning of a driver error. What matters is whether the server may have committed: it may if
 * the connection broke after `commit` was sent (126 of 130 had). Any other error code means that
 * the transaction was rolled back.
 */
export type FailureKind =
  /** The connection was lost, or none was available. */
  | 'connection'
  /** Another transaction was first; nothing was written, and a retry may end differently. */
  | 'conflict'
  | 'refused'

const CONFLICTS = new Set([
  '40001', // serialisation failure
  '40P01', // deadlock
  '23505', // the row did not exist when the rule looked
])
/** Too many connections, shutting down, crashed, starting up, idle for too long. */
const NO_CONNECTION = new Set(['53300', '57P01', '57P02', '57P03', '57P05', '25P03'])

/** An error from the driver or the server, as opposed to a bug of ours. */
export class ServerFailure extends Error {
  override readonly name = 'ServerFailure'
  /** The SQLSTATE, the socket's code, or an empty string. */
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

/** Translates into store errors; passes our own bugs through. */
export function translateServerError(error: unknown, place: string, waitedMs: number): unknown {
  if (!(error instanceof ServerFailure)) return error
  const problem = error.message
  const remedy = remedyFor(error)
  if (remedy !== undefined) {
    return new StoreRefusedError(
      { path: place, problem: `${problem}. ${remedy}` },
      { cause: error },
    )
  }
  switch (error.code) {
    case '53100':
      return new StoreFullError({ path: place })
    case '25006':
      return new StoreReadOnlyError({ path: place, problem })
    // Every statement fits the schema, so another program removed this table or column.
    case '42P01':
    case '42703':
      return new StoreDamagedError({ path: place, problem: `${problem}. Restore a backup.` })
    case '57014':
    case '55P03':
      return new StoreBusyError({ waitedMs, problem: `the server gave up (${problem})` })
    default:
  }
  if (error.kind === 'refused') return error
  const what =
    error.kind === 'conflict'
      ? 'other writers always committed first'
      : HOST_UNKNOWN.has(error.code)
        ? `the host of ${place} is not known; check its name`
        : `${place} does not answer`
  return new StoreBusyError({ waitedMs, problem: `${what} (${problem})` })
}

/** A name server that is briefly unavailable gives the same codes, so these are retried. */
const HOST_UNKNOWN = new Set(['ENOTFOUND', 'EAI_AGAIN'])

/** Errors that these settings always cause, and what to change. */
const REMEDIES: { readonly [state: string]: string } = {
  '28P01':
    'The user or the password is wrong: check both in `store`, or in the variable, file or command that the password comes from',
  '28000':
    "The server does not allow this user to connect from here, or in this way: check the user's name, `sslmode` in the address, and the server's pg_hba.conf",
  '3D000': 'Create the database (`createdb NAME`), or name another one in `store`',
  '42501':
    'The user lacks this right: have the owner grant it, for a first start `grant create on database NAME to USER`',
  '3F000': 'Create the schema, or allow the user to create it',
}

const NO_TLS = 'Take `sslmode` out of the address, or switch TLS on at the server'
const BAD_CERTIFICATE =
  "The server's certificate is not trusted: name its authority with `sslrootcert=FILE` in the address"
const NO_PASSWORD =
  'The server asks for a password: say where it comes from, such as `store: {url: …, password: {kind: variable, name: PGPASSWORD}}`'

/** Undefined if it may resolve itself or is a bug of ours. */
function remedyFor({ code, message }: ServerFailure): string | undefined {
  const known = REMEDIES[code]
  if (known !== undefined) return `${known}.`
  // The driver's own errors have a message and no code.
  if (message.includes('does not support SSL')) return `${NO_TLS}.`
  if (/client password must be a/.test(message)) return `${NO_PASSWORD}.`
  const isCertificate = /CERT|^UNABLE_TO_|SELF_SIGNED/.test(code)
  return isCertificate ? `${BAD_CERTIFICATE}.` : undefined
}
