import type { IncomingMessage } from 'node:http'
import type { Endpoint } from './endpoint.ts'
import type { Page } from './files.ts'
import { HttpProblem } from './problems.ts'

/** The endpoint of a request with its path parameters, or the response if there is no endpoint. */
export type RoutedRequest =
  | {
      readonly endpoint: Endpoint
      readonly params: Readonly<Record<string, string>>
      readonly query: URLSearchParams
    }
  | { readonly endpoint: null; readonly otherwise: Page | HttpProblem }

/** The endpoints of one path, by method. */
interface PathRoutes {
  readonly pattern: RegExp
  readonly byMethod: ReadonlyMap<string, Endpoint>
}

/** Paths as in OpenAPI: `{name}` is one segment. HEAD is answered as GET. */
export class Router {
  readonly #routes: readonly PathRoutes[]
  readonly #pages: ReadonlyMap<string, Page>

  constructor(endpoints: readonly Endpoint[], pages: ReadonlyMap<string, Page>) {
    this.#routes = [...Map.groupBy(endpoints, ({ path }) => path)].map(([path, group]) => ({
      pattern: patternOf(path),
      byMethod: new Map(group.map((each) => [each.method.toUpperCase(), each])),
    }))
    this.#pages = pages
  }

  find({
    method = '',
    url = '',
    headers: { 'service-worker': worker },
  }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): RoutedRequest {
    if (worker !== undefined) return { endpoint: null, otherwise: noWorker() }
    const target = url.startsWith('/') ? url : originForm(url)
    if (target === undefined) return { endpoint: null, otherwise: new HttpProblem('bad-request') }
    const [path, query] = splitTarget(target)
    for (const { pattern, byMethod } of this.#routes) {
      const found = pattern.exec(path)
      if (found === null) continue
      const endpoint = byMethod.get(method === 'HEAD' ? 'GET' : method)
      if (endpoint !== undefined) {
        const params = Object.entries(found.groups ?? {}).map(([name, text]) => [
          name,
          decode(text),
        ])
        return { endpoint, params: Object.fromEntries(params), query: new URLSearchParams(query) }
      }
      const headers = { allow: [...byMethod.keys()].join(', ') }
      return { endpoint: null, otherwise: new HttpProblem('method-not-allowed', { headers }) }
    }
    const page = method === 'GET' ? this.#pages.get(path) : undefined
    return { endpoint: null, otherwise: page ?? new HttpProblem('unknown-path') }
  }
}

/** Has the browser remove what it keeps for this address. */
export const CLEARING = { 'clear-site-data': '"cache", "storage"' }

/**
 * Our page has no service worker. One that a browser keeps for this address came from a program that
 * listened here while the server was down.
 */
function noWorker(): HttpProblem {
  return new HttpProblem('unknown-path', { headers: CLEARING })
}

function patternOf(path: string): RegExp {
  const source = path.replaceAll('.', '\\.').replaceAll(/\{([a-z]+)\}/g, '(?<$1>[^/]+)')
  return new RegExp(`^${source}$`)
}

/** Proxies may send an absolute URL. Undefined: not a valid URL. */
function originForm(url: string): string | undefined {
  const address = /^https?:/i.test(url) ? URL.parse(url) : null
  return address === null ? undefined : address.pathname + address.search
}

function splitTarget(target: string): [path: string, query: string] {
  const end = target.indexOf('?')
  return end < 0 ? [target, ''] : [target.slice(0, end), target.slice(end + 1)]
}

/** A malformed escape stays as it is; the parameter's schema refuses it. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
