import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { PeerUsers } from './peer-user.ts'

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
const PORT = 7420
const HERE = '0100007F:1CFC'

function row(local: string, remote: string, userId: number, { state = '01', inode = 77 } = {}) {
  return `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${userId}        0 ${inode} 1 0000000000000000 20 4 30 10 -1`
}
const LISTENING = row(HERE, '00000000:0000', 1_000, { state: '0A' })
/** These connections are rows of a text only. */
const isConnected = () => true

async function isOwner(
  rows: readonly string[],
  peer = { remoteAddress: '127.0.0.1', localAddress: '127.0.0.1' },
) {
  const other = row('0200007F:1CFC', '00000000:0000', 1_001, { state: '0A' })
  const read = async () => [HEAD, other, LISTENING, ...rows].join('\n')
  const users = await PeerUsers.open(PORT, { userId: 1_000, read, isConnected })
  return await users?.isOwner({ ...peer, remotePort: 0x8398, localPort: PORT } as never)
}

describe('PeerUsers', () => {
  it('admits its own user and root, and no other user', async () => {
    expect(await isOwner([row('0100007F:8398', HERE, 1_000)])).toBe(true)
    expect(await isOwner([row('0100007F:8398', HERE, 0)])).toBe(true)
    expect(await isOwner([row('0100007F:8398', HERE, 1_001)])).toBe(false)
  })

  it('treats a closed socket as having no owner, although it is listed under root', async () => {
    const state = '05'
    expect(await isOwner([row('0100007F:8398', HERE, 0, { state, inode: 0 })])).toBe(false)
  })

  it('trusts no end that is not connected yet', async () => {
    const state = '02'
    expect(await isOwner([row('0100007F:8398', HERE, 1_000, { state })])).toBe(false)
  })

  it.skipIf(process.platform !== 'linux')(
    'does not take the next program at the port of a connection for its peer (skipped: only Linux lists owners)',
    async () => {
      const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, '0')
      const here = `0100007F:${hex(port)}`
      const clients: Socket[] = []
      let isReset = false
      const read = async () => {
        // Its port is free again; the list has it under the user of a newer connection.
        if (isReset) for (const each of clients.splice(0)) each.resetAndDestroy()
        const rows = from.map((each) => row(`0100007F:${hex(each)}`, here, 1_000))
        return [row(here, '00000000:0000', 1_000, { state: '0A' }), ...rows].join('\n')
      }
      const from: number[] = []
      const users = await PeerUsers.open(port, { userId: 1_000, read })
      const accept = async () => {
        const each = connect(port, '127.0.0.1')
        const [[accepted]] = await Promise.all([once(server, 'connection'), once(each, 'connect')])
        clients.push(each)
        from.push(each.localPort ?? 0)
        return accepted as Socket
      }
      const [held, reset] = [await accept(), await accept()]
      expect(await users?.find(held)).toBe('own')
      isReset = true
      expect(await users?.find(reset)).toBe('unknown')
      for (const each of [held, reset]) each.destroy()
      server.close()
    },
  )

  it('checks both ends, and trusts no connection that is not listed', async () => {
    expect(await isOwner([])).toBe(false)
    expect(await isOwner([row('0100007F:8399', HERE, 1_000)])).toBe(false)
    expect(await isOwner([row('0100007F:8398', '0100007F:1CFD', 1_000)])).toBe(false)
    expect(await isOwner([row('0200007F:8398', HERE, 1_000)])).toBe(false)
    const gone = { remoteAddress: undefined, localAddress: undefined } as never
    expect(await isOwner([row('0100007F:8398', HERE, 1_000)], gone)).toBe(false)
  })

  it('reads IPv6, and IPv4-mapped addresses', async () => {
    const six = '00000000000000000000000001000000'
    const peer = { remoteAddress: '::1', localAddress: '::1' }
    expect(await isOwner([row(`${six}:8398`, `${six}:1CFC`, 1_000)], peer)).toBe(true)
    // An address of this machine that is not loopback: `2001:db8::a1:5`.
    const [own, real] = [
      { remoteAddress: '2001:db8::a1:5', localAddress: '::1' },
      'B80D012000000000000000000500A100',
    ]
    expect(await isOwner([row(`${real}:8398`, `${six}:1CFC`, 1_000)], own)).toBe(true)
    expect(await isOwner([row(`${real}:8398`, `${six}:1CFC`, 1_001)], own)).toBe(false)
    const linked = { ...own, remoteAddress: '2001:db8::a1:5%eth0' }
    expect(await isOwner([row(`${real}:8398`, `${six}:1CFC`, 1_000)], linked)).toBe(true)
    const mapped = '0000000000000000FFFF00000100007F'
    expect(await isOwner([row(`${mapped}:8398`, `${mapped}:1CFC`, 1_001)])).toBe(false)
    expect(await isOwner([row(`${mapped}:8398`, `${mapped}:1CFC`, 1_000)])).toBe(true)
  })

  it('reads one list for many connections, and a new one for those that come while it reads', async () => {
    let rows = [LISTENING]
    const reads: (() => void)[] = []
    const read = () =>
      new Promise<string>((resolve) => {
        // The list is as of the beginning of the read.
        const text = rows.join('\n')
        reads.push(() => resolve(text))
      })
    const opening = PeerUsers.open(PORT, { userId: 1_000, read, isConnected })
    reads.shift()?.()
    const users = await opening
    const connect = (port: number) => {
      rows = [...rows, row(`0100007F:${port.toString(16).toUpperCase()}`, HERE, 1_000)]
      const ends = { remoteAddress: '127.0.0.1', localAddress: '127.0.0.1' }
      return users?.isOwner({ ...ends, remotePort: port, localPort: PORT } as never)
    }
    const first = Array.from({ length: 100 }, (_, index) => connect(0x8000 + index))
    await Promise.resolve()
    expect(reads).toHaveLength(1)
    const second = Array.from({ length: 100 }, (_, index) => connect(0x9000 + index))
    reads.shift()?.()
    expect(new Set(await Promise.all(first))).toEqual(new Set([true]))
    expect(reads).toHaveLength(1)
    reads.shift()?.()
    expect(new Set(await Promise.all(second))).toEqual(new Set([true]))
    expect(reads).toHaveLength(0)
  })

  it('reports a system that does not list owners', async () => {
    const read = async () => HEAD
    expect(await PeerUsers.open(PORT, { userId: 1_000, read })).toBeNull()
    expect(await PeerUsers.open(PORT, { userId: 1_001, read: async () => LISTENING })).toBeNull()
  })
})
