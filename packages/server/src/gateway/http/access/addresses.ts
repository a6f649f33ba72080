import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { HttpProblem } from '../problems.ts'

/**
 * Which web pages may call the server. A foreign page can make a browser on this machine send
 * requests, under its own host name that resolves to this machine (DNS rebinding) or directly
 * (request forgery). So a host name must be one of ours, and an origin must be the host itself or
 * one that the operator named.
 */
export function isLoopback(host: string): boolean {
  const plain = unbracketed(host)
  return plain === 'localhost' || plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'))
}

/**
 * Of several Host headers, Node keeps the first; a proxy in front of us may have checked another one.
 */
export function singleHost({
  headersDistinct: { host = [] },
}: Pick<IncomingMessage, 'headersDistinct'>): string | undefined {
  if (host.length <= 1) return host[0]
  throw new HttpProblem('bad-request', { detail: 'The request has more than one Host header.' })
}

/**
 * A numeric address cannot be rebound; a host name must be a known one. `instead`: the address to use
 * where `localhost` may lead to another program too; null: it leads to us alone.
 */
export function checkHost(
  host: string | undefined,
  names: readonly string[],
  instead: string | null,
): void {
  const name = hostNameOf(host ?? '')
  if (name === undefined)
    throw new HttpProblem('bad-request', { detail: 'The Host header is missing or malformed.' })
  if (isIP(unbracketed(name)) !== 0 || names.includes(name)) return
  if (name === 'localhost') {
    if (instead === null) return
    const detail = `Another program may answer at \`localhost\`. Use http://${instead}`
    throw new HttpProblem('wrong-address', { detail })
  }
  throw new HttpProblem('host-refused', {
    detail: 'Use an address in numbers or localhost, or add the name to http.allowedHosts.',
  })
}

/** As a URL names it. */
export function ownAddress({
  localAddress,
  localPort,
}: Pick<Socket, 'localAddress' | 'localPort'>): string {
  if (localAddress === undefined) return '127.0.0.1 and the same port'
  const own = localAddress.replace(/^::ffff:/i, '')
  return `${own.includes(':') ? `[${own}]` : own}:${localPort}`
}

/** Scripts cannot change these headers. */
export function isOfBrowser({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  return origin !== undefined || site !== undefined
}

/** Response headers that a page of another origin may read. */
const EXPOSED = 'location, retry-after, www-authenticate, x-request-id'

/**
 * Pages of other origins that may call the server (CORS). Each is named: `*` would let every page in
 * on a server without tokens. There are no cookies, so credentials are not allowed; a page sends its
 * token in the header `Authorization`.
 */
export class AllowedOrigins {
  readonly #names: ReadonlySet<string>

  constructor(origins: readonly string[]) {
    this.#names = new Set(origins.map(originOf))
  }

  check(headers: IncomingHttpHeaders): void {
    const { host = '', origin } = headers
    const site = headers['sec-fetch-site']
    if (origin !== undefined) {
      if (this.#names.has(origin)) return
      // The scheme is left out: a proxy in front of us may add TLS.
      if (authorityOf(origin) !== host.toLowerCase()) throw refusedOrigin()
    }
    if (site !== undefined && site !== 'same-origin' && site !== 'none') {
      throw refusedOrigin()
    }
  }

  isPreflight({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
    const isAsked = headers['access-control-request-method'] !== undefined
    return method === 'OPTIONS' && isAsked && this.#names.has(headers.origin ?? '')
  }

  headersFor(origin: string | undefined): Readonly<Record<string, string>> {
    if (this.#names.size === 0) return {}
    const isNamed = origin !== undefined && this.#names.has(origin)
    return {
      vary: 'Origin',
      ...(isNamed && {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': EXPOSED,
      }),
    }
  }
}

/** As browsers write it: in lower case and without the default port. */
function originOf(text: string): string {
  const url = URL.parse(text)
  return url === null || url.origin === 'null' ? text.toLowerCase() : url.origin
}

function authorityOf(origin: string): string | undefined {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin)
  return match?.[1]?.toLowerCase()
}

function hostNameOf(host: string): string | undefined {
  const match = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/i.exec(host)
  return match?.[1]?.toLowerCase().replace(/\.$/, '')
}

function unbracketed(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}

function refusedOrigin(): HttpProblem {
  const detail = 'Add the origin of the page to http.allowedOrigins to let it in.'
  return new HttpProblem('origin-refused', { detail })
}
