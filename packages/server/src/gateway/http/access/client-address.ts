import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/**
 * The address that a request comes from. Behind a reverse proxy, the proxy reports it in a
 * forwarding header. Clients can write that header too, so it is read from the right, where the
 * nearest proxy appends, and only as long as the sender of each part is a trusted proxy.
 */
export type ForwardingHeader = 'x-forwarded-for' | 'forwarded'

const HOPS_MAX = 32

/** Whether the headers show that a proxy passed the request on. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some(
    (name) => name.startsWith('x-forwarded-') || PROXY_HEADERS.has(name),
  )
}

const PROXY_HEADERS: ReadonlySet<string> = new Set(['forwarded', 'via', 'x-real-ip'])

export class ClientAddresses {
  readonly #trusted = new BlockList()
  readonly #header: ForwardingHeader

  /** Proxies are addresses or ranges such as `10.0.0.0/8`. */
  constructor(proxies: readonly string[], header: ForwardingHeader) {
    this.#header = header
    for (const proxy of proxies) {
      const [address = '', bits] = proxy.split('/')
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#trusted.addAddress(address, family)
      else this.#trusted.addSubnet(address, Number(bits), family)
    }
  }

  isProxy(address: string | undefined): boolean {
    const plain = plainAddress(address ?? '')
    return plain !== undefined && this.#trusted.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')
  }

  /** The key under which failures and unauthenticated requests are counted. */
  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    let address = plainAddress(socket.remoteAddress ?? '')
    const hops = headers[this.#header]?.toString().split(',').slice(-HOPS_MAX) ?? []
    while (this.isProxy(address)) {
      const hop = plainAddress(this.#addressIn(hops.pop() ?? ''))
      if (hop === undefined) break
      address = hop
    }
    return address === undefined ? 'unknown' : network(address)
  }

  #addressIn(hop: string): string {
    if (this.#header === 'x-forwarded-for') return hop.trim()
    const [pair = ''] = hop.split(';').filter((each) => /^\s*for=/i.test(each))
    return pair.slice(pair.indexOf('=') + 1).replaceAll(/["\s]/g, '')
  }
}

/** Without brackets, port, zone and the prefix of IPv4 in IPv6; undefined: not an address. */
function plainAddress(text: string): string | undefined {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1')
  const plain = bare.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(plain) === 0 ? undefined : plain
}

/**
 * One customer has a whole /64 of IPv6 addresses and could fail from each of them, so the /64
 * counts as one.
 */
function network(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const [front, back] = [head, tail ?? ''].map((side) =>
    side.split(':').filter((part) => part !== ''),
  )
  const missing = 8 - (front?.length ?? 0) - (back?.length ?? 0)
  const groups = [...(front ?? []), ...Array.from({ length: missing }, () => '0'), ...(back ?? [])]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
