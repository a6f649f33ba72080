import type { AddressInfo, Socket } from 'node:net'
import { type Clock, systemClock } from '#core/base/clock'
import { type Logger, SILENT, traceOf } from '#core/base/logger'
import type { Runtime } from '../../runtime/runtime.ts'
import { Access, TokenNeededError, type Tokens } from './access/access.ts'
import { AllowedOrigins, isLoopback } from './access/addresses.ts'
import { ClientAddresses, type ForwardingHeader } from './access/client-address.ts'
import { HTTP_LIMITS, type HttpLimits } from './access/limits.ts'
import { listenAt } from './access/local-socket.ts'
import { PeerUsers } from './access/peer-user.ts'
import { readinessOf } from './access/readiness.ts'
import { type DiagnosticsSources, openDiagnostics } from './diagnostics.ts'
import { ENDPOINTS } from './endpoints/all.ts'
import { EventStreams } from './event-stream.ts'
import { readPages } from './files.ts'
import { Metrics } from './metrics.ts'
import { type Handler, NodeServer } from './node-server.ts'
import { describeApi } from './open-api.ts'
import { RequestPipeline } from './request-pipeline.ts'
import { Router } from './router.ts'
import { type HookOptions, readHook } from './webhook.ts'

/**
 * The HTTP gateway: everything a runtime can do, over a socket. It listens on loopback unless
 * configured otherwise, and on other addresses only if a token exists.
 */
export interface HttpOptions {
  readonly runtime: Runtime
  readonly host?: string
  /** The port; 0: any free port. */
  readonly port?: number
  /** File descriptors of sockets that a service manager opened at this host and port. */
  readonly passed?: readonly number[]
  /** Unix domain sockets in addition to the port; only the server's own user can open them. */
  readonly sockets?: readonly string[]
  /** The store implements this. If it holds a token, every request needs one. */
  readonly tokens?: Tokens
  /** Webhooks: programs that may send notifications, each to its session. */
  readonly hooks?: readonly HookOptions[]
  readonly limits?: Partial<HttpLimits>
  readonly logger?: Logger
  readonly clock?: Clock
  /** Host names under which clients may call the server, besides its own address. */
  readonly allowedHosts?: readonly string[]
  /** Origins of pages that may call the server, besides its own. */
  readonly allowedOrigins?: readonly string[]
  /** Reverse proxies (addresses or ranges) whose forwarding header is trusted. */
  readonly trustedProxies?: readonly string[]
  readonly forwardingHeader?: ForwardingHeader
  /** The folder of the web page; without it, no page is served. */
  readonly dashboardFolder?: string
  /** A secret path at which any page may have the browser remove what it keeps for this address. */
  readonly clearingPath?: string
  /** Facts read from disk, for operators. */
  readonly diagnostics?: DiagnosticsSources
}

export interface HttpServer {
  readonly url: string
  /** Callers without a token: none, the user who runs the server, or every user of this machine. */
  readonly open: 'nobody' | 'own-user' | 'every-user'
  /** Ends event streams, answers running requests, then frees the port. May be called twice. */
  close(): Promise<void>
}

let document: string | undefined

/** Built once, because any caller may request it, and when it is first requested: most servers never need it. */
function readApi(): string {
  document ??= JSON.stringify(describeApi(ENDPOINTS))
  return document
}

export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { runtime, host = '127.0.0.1', port = 0, logger = SILENT, clock = systemClock } = options
  const limits = { ...HTTP_LIMITS, ...options.limits }
  const { tokens = null, trustedProxies = [], forwardingHeader = 'x-forwarded-for' } = options
  const isOpen = tokens === null || (await tokens.listTokens()).length === 0
  if (isOpen && !isLoopback(host)) throw new TokenNeededError(host)

  const addresses = new ClientAddresses(trustedProxies, forwardingHeader)
  const peers = Promise.withResolvers<PeerUsers | null>()
  const ownSockets = new WeakSet<Socket>()
  const closing = new AbortController()
  const streams = new EventStreams(limits)
  const metrics = new Metrics(runtime, () => streams.size)
  const access = new Access(tokens, clock, { isOpen })
  const pipeline = new RequestPipeline({
    edge: {
      runtime,
      prove: (asked) => access.prove(asked),
      waitMsMax: limits.waitMsMax,
      hooks: (options.hooks ?? []).map(readHook),
      now: () => clock.now(),
      diagnostics: openDiagnostics(options.diagnostics ?? {}, runtime, clock),
      readiness: readinessOf(runtime, clock),
      streams: () => streams.size,
      readMetrics: () => metrics.read(),
      openApi: readApi,
    },
    ...{ access, addresses },
    isOwnSocket: (socket) => ownSockets.has(socket),
    holdsLocalhost: () => server.holdsLocalhost,
    peerOf: async (socket) => (await (await peers.promise)?.find(socket)) ?? null,
    ...{ limits, metrics, streams, logger, clock },
    allowedHosts: [...(host === 'localhost' ? [] : [host]), ...(options.allowedHosts ?? [])].map(
      (name) => name.toLowerCase(),
    ),
    origins: new AllowedOrigins(options.allowedOrigins ?? []),
    clearingPath: options.clearingPath ?? null,
    closing: closing.signal,
  })
  const pages =
    options.dashboardFolder === undefined ? new Map() : readPages(options.dashboardFolder)
  const isProxy = (address: string | undefined) => addresses.isProxy(address)
  const router = new Router(ENDPOINTS, pages)
  const handler: Handler = (incoming, outgoing) =>
    pipeline.handle({ incoming, outgoing, ...router.find(incoming) })
  const onFailure = (error: unknown) =>
    logger.error(traceOf(error), 'a request failed and its connection was closed')
  const server = new NodeServer(handler, limits, isProxy, onFailure)
  const { passed = [] } = options
  const address = await server.listen({ host, port, passed })
  const url = urlOf(host, address)
  const ofPeers = passed[0] === undefined ? {} : { listeningFd: passed[0] }
  peers.resolve(await PeerUsers.open(address.port, ofPeers).catch(() => null))
  const open = !isOpen ? 'nobody' : (await peers.promise) === null ? 'every-user' : 'own-user'
  const fromOwner: Handler = (incoming, outgoing) => {
    ownSockets.add(incoming.socket)
    return handler(incoming, outgoing)
  }
  const { sockets = [] } = options
  const locals = sockets.map(() => new NodeServer(fromOwner, limits, () => false, onFailure))
  const unlinks = await listenAtAll(sockets, locals).catch(async (error: unknown) => {
    await Promise.all([server, ...locals].map((each) => each.close()))
    throw error
  })
  logger.info({ url, open, ...(sockets.length > 0 && { sockets }) }, 'listening')

  const followed = metrics.follow(runtime, closing.signal).catch((error: unknown) => {
    logger.error({ err: error }, 'metrics no longer count events')
  })
  let closed: Promise<void> | undefined
  const close = async () => {
    closing.abort()
    for (const unlink of unlinks) unlink()
    await Promise.all([server, ...locals].map((each) => each.close()))
    streams.close()
    await followed
    logger.info({ url }, 'stopped listening')
  }
  return {
    url,
    open,
    close() {
      closed ??= close()
      return closed
    },
  }
}

async function listenAtAll(
  sockets: readonly string[],
  servers: readonly NodeServer[],
): Promise<readonly (() => void)[]> {
  const unlinks: (() => void)[] = []
  for (const [index, socket] of sockets.entries()) {
    unlinks.push(await listenAt(socket, async (path) => await servers[index]?.listenAtPath(path)))
  }
  return unlinks
}

/** `localhost` may resolve to another address, where another user of this machine listens. */
function urlOf(named: string, { address, port }: AddressInfo): string {
  const host = named === 'localhost' ? address : named
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`
}
