import { fstatSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isIP, type Socket } from 'node:net'
import { endianness } from 'node:os'

/**
 * Which user of this machine is at the other end of a loopback connection. Without this check, any
 * local user could read every session of a server that requires no token. Linux lists the owner of
 * each socket in /proc/net/tcp, so there only the server's own user and root are admitted without a
 * token.
 */
export type ReadTable = () => Promise<string>

/** `unknown`: not of this machine, as far as it lists its sockets. */
export type Peer = 'own' | 'other' | 'unknown'

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
/** The list is read in pieces while it changes, so one read can miss a row. */
const TRIES = 3
const LISTENING = '0A'
const CONNECTING = '02'
const ROOT = 0

async function readTables(): Promise<string> {
  const texts = TABLES.map((path) => readFile(path, 'latin1').catch(() => ''))
  return (await Promise.all(texts)).join('\n')
}

export class PeerUsers {
  readonly #userId: number
  readonly #read: ReadTable
  readonly #isConnected: (socket: Socket) => boolean
  readonly #known = new WeakMap<Socket, Promise<Peer>>()
  #reading: Promise<unknown> = Promise.resolve()
  #next: Promise<SocketTable> | null = null

  private constructor(userId: number, read: ReadTable, isConnected: (socket: Socket) => boolean) {
    this.#userId = userId
    this.#read = read
    this.#isConnected = isConnected
  }

  /**
   * Null: this system does not report owners, not even of our own listening port. A service manager
   * may have opened that one (`listeningFd`), as another user.
   */
  static async open(
    port: number,
    options: {
      userId?: number
      listeningFd?: number
      read?: ReadTable
      isConnected?: (socket: Socket) => boolean
    } = {},
  ): Promise<PeerUsers | null> {
    const { userId = process.geteuid?.(), listeningFd, read = readTables } = options
    const { isConnected = isStillConnected } = options
    if (userId === undefined) return null
    const listenerId = listeningFd === undefined ? userId : fstatSync(listeningFd).uid
    for (let round = 0; round < TRIES; round++) {
      // Other programs may listen on this port too, at other addresses.
      const ours = new SocketTable(await read()).of(port).filter(({ state }) => state === LISTENING)
      if (ours.some((row) => row.userId === listenerId)) {
        return new PeerUsers(userId, read, isConnected)
      }
    }
    return null
  }

  async isOwner(socket: Socket): Promise<boolean> {
    return (await this.find(socket)) === 'own'
  }

  /** The list is read once per connection. */
  find(socket: Socket): Promise<Peer> {
    const known = this.#known.get(socket) ?? this.#look(socket)
    this.#known.set(socket, known)
    return known
  }

  async #look(socket: Socket): Promise<Peer> {
    const { remoteAddress, remotePort, localAddress, localPort } = socket
    const [peer, here] = [hexOf(remoteAddress), hexOf(localAddress)]
    if (peer === undefined || here === undefined) return 'unknown'
    for (let round = 0; round < TRIES; round++) {
      const row = (await this.#readNext())
        .of(remotePort ?? 0)
        .find(
          ({ local, remote, state }) =>
            state !== CONNECTING &&
            remote.port === localPort &&
            local.address === peer &&
            remote.address === here,
        )
      // A connection that its peer reset frees the peer's port at once. Another user's program may have
      // it by now, and the row is then of that program.
      if (!this.#isConnected(socket)) return 'unknown'
      // A socket that its process has closed is listed under root, without an inode.
      if (row !== undefined) {
        const isOwn = row.userId === this.#userId || row.userId === ROOT
        return row.isHeld && isOwn ? 'own' : 'other'
      }
    }
    return 'unknown'
  }

  /**
   * One read for all who wait for it. It begins after they asked, because an earlier one may not list
   * their connections: a thousand connections at once would otherwise read a thousand lists of a
   * thousand rows.
   */
  #readNext(): Promise<SocketTable> {
    this.#next ??= this.#reading.then(() => {
      this.#next = null
      const reading = this.#read().then((text) => new SocketTable(text))
      this.#reading = reading.catch(() => {})
      return reading
    })
    return this.#next
  }
}

/**
 * Asks the system, which knows of a reset before any event tells us. Node keeps the address that it
 * asked for first, so only the handle asks again; without one, the connection is closed.
 */
function isStillConnected(socket: Socket): boolean {
  type Handle = { readonly getpeername?: (address: object) => number }
  const { _handle } = socket as unknown as { readonly _handle: Handle | null }
  return _handle?.getpeername?.({}) === 0
}

interface Row {
  readonly local: { readonly address: string; readonly port: number }
  readonly remote: { readonly address: string; readonly port: number }
  readonly state: string
  readonly userId: number
  readonly isHeld: boolean
}

/**
 * `sl: local remote st queues timer retransmits uid timeout inode …`, addresses and ports in hex. The
 * list may have thousands of rows; only those that are asked for are parsed.
 */
class SocketTable {
  readonly #lines: ReadonlyMap<string, readonly string[]>

  constructor(text: string) {
    this.#lines = Map.groupBy(text.split('\n'), (line) => {
      const port = line.indexOf(':', line.indexOf(':') + 1) + 1
      return line.slice(port, port + 4)
    })
  }

  /** The sockets with this local port. */
  of(port: number): readonly Row[] {
    const lines = this.#lines.get(port.toString(16).toUpperCase().padStart(4, '0')) ?? []
    return lines.flatMap((line) => {
      const [, local, remote, state = '', , , , userId, , inode] = line.trim().split(/\s+/)
      if (local === undefined || remote === undefined || !/^\d+$/.test(userId ?? '')) return []
      const isHeld = inode !== undefined && inode !== '0'
      return [{ local: endOf(local), remote: endOf(remote), state, userId: Number(userId), isHeld }]
    })
  }
}

/** An IPv4-mapped IPv6 address is the same address. */
const MAPPED = endianness() === 'LE' ? '0000000000000000FFFF0000' : '00000000000000000000FFFF'

function endOf(text: string): Row['local'] {
  const [address = '', port = ''] = text.split(':')
  const isMapped = address.length === 32 && address.startsWith(MAPPED)
  return { address: isMapped ? address.slice(24) : address, port: Number.parseInt(port, 16) }
}

/** An address as listed: 32-bit words in the machine's byte order. */
function hexOf(address = ''): string | undefined {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (isIP(plain) === 0) return undefined
  const bytes = Buffer.from(isIP(plain) === 4 ? plain.split('.').map(Number) : bytesOf(plain))
  return (endianness() === 'LE' ? bytes.swap32() : bytes).toString('hex').toUpperCase()
}

function bytesOf(address: string): readonly number[] {
  const [front = [], back = []] = address
    .split('::')
    .map((side) => side.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0')
  return [...front, ...zeros, ...back].flatMap((group) => {
    const number = Number.parseInt(group, 16)
    return [number >> 8, number & 0xff]
  })
}
