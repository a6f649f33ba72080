import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Upstreams } from './upstream.ts'

/** The destination of a request, from its path and headers. */
export interface ProxyAddress {
  /** From the base URL that the launcher gave to a client: `/l/<launch>/v1/…`. */
  readonly launch: string | null
  /** A provider from the client's own settings: `/p/<name>/…`. */
  readonly provider: string | null
  /** The path for the provider, with its query. */
  readonly path: string
  readonly pathname: string
}

const LAUNCH = /^\/l\/([A-Za-z0-9_-]{1,64})(?=\/|$)/
const PROVIDER = /^\/p\/([^/?]*)/

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
): URL | ProxyRefusal {
  if (provider !== null) return named?.get(provider) ?? UNKNOWN_PROVIDER
  if (/\/(?:responses|chat\/completions|embeddings)(?:\/|$)/.test(pathname)) return openai
  // OpenAI has paths that end in messages, too: `/v1/threads/ID/messages`.
  if (/^\/(?:v1\/)?messages(?:\/|$)/.test(pathname)) return anthropic
  const [key] = /^Bearer sk-(?:ant-)?/.exec(headers.authorization ?? '') ?? []
  if (key === 'Bearer sk-') return openai
  const isAnthropic =
    key !== undefined ||
    headers['anthropic-version'] !== undefined ||
    headers['x-api-key'] !== undefined ||
    headers['user-agent']?.startsWith('claude') === true ||
    pathname === '/api/hello' ||
    pathname === '/'
  return isAnthropic ? anthropic : openai
}

export interface ProxyRefusal {
  readonly status: 400 | 403 | 404
  readonly message: string
}

/** No other provider may get the request: it carries the credentials of the one that it names. */
const UNKNOWN_PROVIDER: ProxyRefusal = {
  status: 404,
  message: 'This proxy knows no provider of that name. Start it with --upstream NAME=URL.',
}

/** Null: the request may go on. `holdsLocalhost`: that name leads to this proxy alone. */
export function refusalFor(
  {
    url = '',
    headers,
    headersDistinct,
  }: Pick<IncomingMessage, 'url' | 'headers' | 'headersDistinct'>,
  holdsLocalhost: boolean,
): ProxyRefusal | null {
  if ((headersDistinct['host']?.length ?? 0) > 1) {
    return { status: 400, message: 'The request has more than one Host header.' }
  }
  if (isOfPage(headers)) {
    const message = 'This proxy answers programs on this computer, not web pages.'
    return { status: 403, message }
  }
  if (!holdsLocalhost && /^localhost(?::|$)/.test(headers.host ?? '')) {
    const message = 'Another program may answer at localhost. Use http://127.0.0.1 and this port.'
    return { status: 403, message }
  }
  // Appended to a provider's URL, any other form would name another host.
  if (!url.startsWith('/')) {
    const message = 'Set this address as the base URL. It is not an HTTP proxy.'
    return { status: 400, message }
  }
  if (DOT_SEGMENT.test(url)) {
    return { status: 400, message: 'The path must not contain "." or ".." as a segment.' }
  }
  return null
}

/** Resolved behind a provider's base URL, `..` would leave its path. URLs read `\` as `/`. */
const DOT_SEGMENT = /^[^?#]*[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i

/**
 * A page in a browser can send requests to this computer. Browsers send the site or the origin of a
 * request (of a websocket, only the origin), and a page that reaches this computer under its own
 * host name sends that name. We show no page: one of our own origin came from another program that
 * listened here before. The site `none` is an address that a person typed.
 */
function isOfPage({ host = '', origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  if (origin !== undefined || (site !== undefined && site !== 'none')) return true
  return !/^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|\[::1\])(?::\d{1,5})?$/.test(host)
}
