import { isIP } from 'node:net'
import { Problem } from './problems.ts'

/**
 * Whose page may speak to us. A web page of a stranger can make a browser on this machine send us
 * requests, under a host name of its own that it lets point here (DNS rebinding) or straight
 * (request forgery). So a host name must be one of ours, an origin must be the host itself, and
 * there is no CORS.
 */
export function isLoopback(host: string): boolean {
  const plain = unbracketed(host)
  return plain === 'localhost' || plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'))
}

/** An address in numbers cannot be rebound; a name must be known. */
export function checkHost(host: string | undefined, names: readonly string[]): void {
  const name = hostNameOf(host ?? '')
  if (name === undefined) throw new Problem('bad-request', { detail: 'The Host header is wrong.' })
  if (isIP(unbracketed(name)) !== 0 || name === 'localhost' || names.includes(name)) return
  throw new Problem('host-refused', {
    detail: 'Use an address in numbers or localhost, or add the name to http.allowedHosts.',
  })
}

export function checkOrigin(
  headers: {
    readonly host?: string | undefined
    readonly origin?: string | undefined
    readonly 'sec-fetch-site'?: string | string[] | undefined
  },
  allowed: readonly string[],
): void {
  const { host = '', origin } = headers
  const site = headers['sec-fetch-site']
  if (origin !== undefined) {
    if (allowed.includes(origin.toLowerCase())) return
    // The scheme is left out: a proxy in front of us may add TLS.
    if (authorityOf(origin) !== host.toLowerCase()) throw new Problem('origin-refused')
  }
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new Problem('origin-refused')
  }
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
