import { KnownError } from '#core/base/errors'
import type { Environment } from '../routes/credential.ts'

/**
 * The proxy that the environment names for an origin, by the variables that other programs read:
 * `HTTPS_PROXY`, `HTTP_PROXY` and, for hosts to reach directly, `NO_PROXY`, in upper or lower case.
 * Addresses of this host never go through a proxy, where they would mean the proxy's own host.
 */
export function proxyFor(origin: string, environment: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(origin)
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const named =
    protocol === 'https:'
      ? (read(environment, 'https_proxy') ?? read(environment, 'http_proxy'))
      : read(environment, 'http_proxy')
  if (named === undefined || isLoopback(host)) return undefined
  const target = { host, port: port || (protocol === 'https:' ? '443' : '80') }
  const excepted = (read(environment, 'no_proxy') ?? '').toLowerCase().split(/[,\s]+/)
  if (excepted.some((entry) => isExcepted(target, entry))) return undefined
  const uri = named.includes('://') ? named : `http://${named}`
  if (/^https?:$/.test(URL.parse(uri)?.protocol ?? '')) return uri
  throw new ProxyError('The environment should name a proxy as http://host:port and does not.')
}

/** Does not show the value: it may contain a password. */
export class ProxyError extends KnownError {
  override readonly name = 'ProxyError'
  readonly code = 'invalid-proxy'
  readonly retryable = false
}

function read(environment: Environment, name: string): string | undefined {
  return (environment[name] ?? environment[name.toUpperCase()])?.trim() || undefined
}

function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|::1|localhost|.*\.localhost)$/.test(host)
}

/** `example.com` and `.example.com` mean the name and all below it; `*` means everything. */
function isExcepted({ host, port }: { host: string; port: string }, entry: string): boolean {
  const bare = entry.replace(/^\*?\./, '')
  const bracketed = host.includes(':') ? `[${host}]` : host
  const forms = [host, bracketed, `${bracketed}:${port}`]
  const isMeant = forms.some((form) => form === bare || form.endsWith(`.${bare}`))
  return entry === '*' || (bare !== '' && isMeant)
}
