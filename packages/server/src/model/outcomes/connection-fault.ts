import type { WireRecord } from '../calls/exchange.ts'
import type { ConnectionFault, Outcome } from './outcome.ts'

/**
 * The cause of a failed connection, from the codes along its chain of causes. The outer error says
 * "fetch failed" whether the server is down or our own dispatcher is dead; only the chain shows
 * which.
 */
export function judgeConnection(
  error: unknown,
  { isProxied, wasSent }: Pick<WireRecord, 'isProxied' | 'wasSent'> = {},
): Extract<Outcome, { kind: 'connection' }> {
  const codes = codesOf(error)
  const [found] = CODES.find(([, known]) => codes.some((code) => known.test(code))) ?? ['unknown']
  // With a proxy, only faults from the TLS handshake on are the server's.
  const isOfTheProxy = isProxied && !wasSent && !OURS_OR_BEHIND.includes(found)
  const fault = isOfTheProxy ? 'proxy' : found
  return { kind: 'connection', fault, freshLoanHelps: FRESH.includes(fault) }
}

const OURS_OR_BEHIND: readonly ConnectionFault[] = ['dispatcher-closed', 'tls', 'reset']

// A reset or a close may come from a connection kept too long; the other faults would hit a new
// connection, too.
const FRESH: readonly ConnectionFault[] = ['dispatcher-closed', 'reset', 'closed', 'unknown']

const CODES: readonly (readonly [ConnectionFault, RegExp])[] = [
  ['dispatcher-closed', /^UND_ERR_(?:DESTROYED|CLOSED)$/],
  ['proxy', /^(?:invalid-proxy|UND_ERR_PRX_[A-Z]+)$/],
  ['dns', /^(?:ENOTFOUND|EAI_[A-Z]+|EDNS[A-Z]*)$/],
  ['tls', /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO$|HOSTNAME_)/],
  ['server-down', /^ECONNREFUSED$/],
  ['unreachable', /^(?:EHOSTUNREACH|ENETUNREACH|ENETDOWN|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/],
  ['reset', /^(?:ECONNRESET|ECONNABORTED|EPIPE)$/],
  // A socket error, an answer shorter than announced, bytes that are not HTTP.
  [
    'closed',
    /^(?:UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|UND_ERR_ABORTED|HPE_[A-Z_]+)$/,
  ],
]

// Chains are short; the limit guards against circular causes.
const LINKS_MAX = 16

function codesOf(error: unknown): readonly string[] {
  const codes: string[] = []
  const open: unknown[] = [error]
  for (let links = 0; open.length > 0 && links < LINKS_MAX; links++) {
    const link = open.shift()
    if (typeof link !== 'object' || link === null) continue
    if ('code' in link && typeof link.code === 'string') codes.push(link.code)
    if ('cause' in link) open.push(link.cause)
    // An AggregateError has one error per address that was tried.
    if ('errors' in link && Array.isArray(link.errors))
      open.push(...link.errors.slice(0, LINKS_MAX))
  }
  return codes
}
