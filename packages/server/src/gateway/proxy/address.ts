import type { IncomingHttpHeaders } from 'node:http'
import type { Upstreams } from './upstream.ts'

/** Where a request goes, by its path and by how it identifies itself. */
export interface ProxyAddress {
  /** From the base URL that the launcher gave to a client: `/l/<launch>/v1/…`. */
  readonly launch: string | null
  /** A provider of the client's own settings: `/p/<name>/…`. */
  readonly provider: string | null
  /** As the provider expects it, with its query. */
  readonly path: string
  readonly pathname: string
}

const LAUNCH = /^\/l\/([A-Za-z0-9_-]{1,64})(?=\/|$)/
const PROVIDER = /^\/p\/([A-Za-z0-9_-]{1,64})(?=\/|$)/

export function readAddress(url: string): ProxyAddress {
  const [start = '', launch = null] = LAUNCH.exec(url) ?? []
  const rest = url.slice(start.length)
  const [named = '', provider = null] = PROVIDER.exec(rest) ?? []
  const path = rest.slice(named.length) || '/'
  const [pathname = '/'] = path.split('?', 1)
  return { launch, provider, path, pathname }
}

export function upstreamFor(
  { pathname, provider }: ProxyAddress,
  headers: IncomingHttpHeaders,
  { anthropic, openai, named }: Upstreams,
): URL {
  const own = provider === null ? undefined : named?.get(provider)
  if (own !== undefined) return own
  if (/\/(?:responses|chat\/completions|embeddings)(?:\/|$)/.test(pathname)) return openai
  if (/\/messages(?:\/|$)/.test(pathname)) return anthropic
  const isAnthropic =
    headers['anthropic-version'] !== undefined ||
    headers['x-api-key'] !== undefined ||
    headers['user-agent']?.startsWith('claude') === true ||
    pathname === '/api/hello' ||
    pathname === '/'
  return isAnthropic ? anthropic : openai
}

/**
 * A page in a browser can send requests to this computer; browsers say so, and under a name of the
 * page's own they are no loopback name.
 */
export function isFromHere({ host, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return false
  return /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|\[::1\])(?::\d{1,5})?$/.test(host ?? '')
}
