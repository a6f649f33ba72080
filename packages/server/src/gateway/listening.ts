import type { Server } from 'node:http'
import { type AddressInfo, createServer, type Server as SocketServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { KnownError } from '#core/base/errors'

/**
 * The name `localhost` leads to two addresses, and browsers try [::1] first. Another user could listen
 * there beside our 127.0.0.1 and show a page. Once that user stops listening, the requests of that page
 * arrive here, from the right browser and with our own origin. So a server on loopback holds its port
 * at both addresses.
 */
const OTHERS: Readonly<Record<string, string>> = {
  '127.0.0.1': '::1',
  '0.0.0.0': '::1',
  '::1': '127.0.0.1',
}

/** Where `localhost` leads. */
const LOOPBACK = ['127.0.0.1', '::1']

export interface ListenAddress {
  readonly host: string
  readonly port: number
  /** What chooses another address, for people. */
  readonly settings?: string
  /** File descriptors of sockets that another process opened there, instead of new ones. */
  readonly passed?: readonly number[]
}

export interface Listening {
  readonly address: AddressInfo
  /** Whether no other program can listen where `localhost` leads, at this port. */
  readonly holdsLocalhost: boolean
  /** Frees the port; resolves once the last connection is closed. */
  stop(): Promise<unknown>
}

export class ListenError extends KnownError {
  override readonly name = 'ListenError'
  readonly code = 'cannot-listen'
  readonly retryable = false
  readonly isTaken: boolean

  constructor(address: string, cause: NodeJS.ErrnoException, settings = OF_SERVE) {
    const why = LISTEN_PROBLEMS[cause.code ?? ''] ?? `${cause.message}. Choose another one`
    super(`Cannot listen on ${address}: ${why} (${settings}).`, { cause })
    this.isTaken = cause.code === 'EADDRINUSE'
  }
}

const OF_SERVE = '--port, http.host, http.port, http.socket'
const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there. Stop it, or choose another',
  EACCES: 'permission denied. Choose a port from 1024 on',
  EADDRNOTAVAIL: 'this machine has no such address. Choose one that it has',
  ENOTFOUND: 'this name has no address. Choose one that this machine has',
}

/** A port that is free at one address may be taken at the other. */
const TRIES_MAX = 8

/** Listens at the place and, on loopback, at the same port of the other address of `localhost`. */
export async function listen(server: Server, place: ListenAddress): Promise<Listening> {
  const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    server.emit('connection', socket),
  )
  Object.assign(other, { maxConnections: server.maxConnections })
  // They stay: a connection that cannot be accepted later must not end the process.
  for (const each of [server, other]) each.on('error', () => {})
  const stop = () =>
    Promise.all([server, other].map((each) => new Promise((done) => each.close(done))))
  for (let tries = 1; ; tries++) {
    try {
      return { ...(await listenAtBoth(server, other, place)), stop }
    } catch (error) {
      server.closeAllConnections()
      await stop()
      const isUnlucky = place.port === 0 && error instanceof ListenError && error.isTaken
      if (!isUnlucky || tries === TRIES_MAX) throw error
    }
  }
}

async function listenAtBoth(
  server: Server,
  other: SocketServer,
  place: ListenAddress,
): Promise<Omit<Listening, 'stop'>> {
  const { host, port, settings, passed: [first, second] = [] } = place
  const bind = async (to: SocketServer, at: Where, named = nameOf(host, port)) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    to.once('error', (error) => reject(new ListenError(named, error, settings)))
    to.listen(at, resolve)
    await promise
  }
  await bind(server, first === undefined ? { host, port } : { fd: first })
  if (second !== undefined) await bind(other, { fd: second })
  const address = first === undefined ? addressOf(server) : namedOf([server, other], place)
  const rest = OTHERS[address.address]
  if (rest === undefined) return { address, holdsLocalhost: address.address === '::' }
  if (second !== undefined) return { address, holdsLocalhost: true }
  try {
    const named = `${nameOf(rest, address.port)}, where \`localhost\` leads too`
    await bind(other, { host: rest, port: address.port }, named)
    return { address, holdsLocalhost: true }
  } catch (error) {
    if (error instanceof ListenError && error.isTaken) throw error
    return { address, holdsLocalhost: !hasAddress(rest) }
  }
}

type Where = { readonly fd: number } | { readonly host: string; readonly port: number }

/**
 * The configured one of the addresses where another process opened sockets. The checks of that
 * address would not hold anywhere else but at the other one of `localhost`.
 */
function namedOf(servers: readonly SocketServer[], { host, port }: ListenAddress): AddressInfo {
  const found = servers.filter(({ listening }) => listening).map(addressOf)
  const address = found.find(
    (each) =>
      each.port === port &&
      (each.address === host || (host === 'localhost' && LOOPBACK.includes(each.address))),
  )
  const isRest = (each: AddressInfo) =>
    each.port === port && each.address === OTHERS[address?.address ?? '']
  const foreign = found.find((each) => each !== address && !isRest(each))
  if (address !== undefined && foreign === undefined) return address
  const at = nameOf(foreign?.address ?? 'a path', foreign?.port ?? '')
  const why = `the service manager passed a socket at ${at}: name the same address in both`
  throw new ListenError(nameOf(host, port), new Error(why))
}

function addressOf(server: SocketServer): AddressInfo {
  return server.address() as AddressInfo
}

function nameOf(host: string, port: number | string): string {
  return `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`
}

/** Where a sandbox hides the addresses of the machine, it may have this one. */
function hasAddress(address: string): boolean {
  try {
    const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
    return all.some((each) => each.address === address)
  } catch {
    return true
  }
}
