import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import {
  type AddressInfo,
  connect,
  createServer as createSocketServer,
  Server as SocketServer,
} from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ListenError, listen } from './listening.ts'

const hasBoth = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ address }) => address === '::1'),
)
const without = hasBoth ? '' : ' (not run: this machine has no [::1])'

/** Answers with the address at which it was reached. */
function newServer(): Server {
  return createServer(({ socket }, response) => response.end(socket.localAddress))
}

async function open(host: string) {
  const server = newServer()
  const listening = await listen(server, { host, port: 0 })
  onTestFinished(async () => {
    server.closeAllConnections()
    await listening.stop()
  })
  return { server, ...listening, port: listening.address.port }
}

/** Another program; 0: at any port. */
async function hold(host: string, port = 0): Promise<number> {
  const holder = createSocketServer((socket) => socket.destroy())
  onTestFinished(() => void holder.close())
  await once(holder.listen(port, host), 'listening')
  return (holder.address() as AddressInfo).port
}

function ask(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, agent: false }, async (answer) => {
      resolve(String(await answer.setEncoding('utf8').reduce((all, each) => all + each, '')))
    })
    asked.once('error', reject).end()
  })
}

describe.runIf(hasBoth)(`a listener on loopback${without}`, () => {
  it.each(['127.0.0.1', '::1', '0.0.0.0', '::', 'localhost'])(
    'at %s answers at both addresses of `localhost`, at one port',
    async (host) => {
      const { port, holdsLocalhost } = await open(host)
      expect((await ask('127.0.0.1', port)).replace('::ffff:', '')).toBe('127.0.0.1')
      expect(await ask('::1', port)).toBe('::1')
      expect(holdsLocalhost).toBe(true)
    },
  )

  it('at another address of its own does not answer for `localhost`', async (ctx) => {
    if (process.platform !== 'linux') return ctx.skip('not run: only Linux has all of 127.0.0.0/8')
    const { port, holdsLocalhost } = await open('127.8.8.8')
    expect(holdsLocalhost).toBe(false)
    for (const host of ['127.0.0.1', '::1'])
      await expect(ask(host, port)).rejects.toThrow('ECONNREFUSED')
  })

  it.each([
    ['127.0.0.1', '::1', '[::1]'],
    ['0.0.0.0', '::1', '[::1]'],
    ['::1', '127.0.0.1', '127.0.0.1'],
  ])('at %s does not start beside another program at %s', async (host, other, shown) => {
    const port = await hold(other)
    const starting = listen(newServer(), { host, port, settings: '--port' })
    await expect(starting).rejects.toThrow(ListenError)
    await expect(starting).rejects.toThrow(
      `Cannot listen on ${shown}:${port}, where \`localhost\` leads too: another program listens there. Stop it, or choose another (--port).`,
    )
    // It keeps nothing.
    await expect(ask(host, port)).rejects.toThrow('ECONNREFUSED')
  })

  it('names its own address if that is taken, also if the other one is', async () => {
    const port = await hold('127.0.0.1')
    await hold('::1', port)
    await expect(listen(newServer(), { host: '127.0.0.1', port })).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: another program listens there.`,
    )
  })

  it('takes another free port if the first one is taken at the other address', async () => {
    const taken = await hold('::1')
    const server = newServer()
    const [first, later] = [server.listen.bind(server), server.listen.bind(server)]
    server.listen = ((_: unknown, done: () => void) => {
      server.listen = later
      return first({ host: '127.0.0.1', port: taken }, done)
    }) as typeof server.listen
    const { address, stop } = await listen(server, { host: '127.0.0.1', port: 0 })
    onTestFinished(() => void stop())
    expect(address.port).not.toBe(taken)
    expect(await ask('::1', address.port)).toBe('::1')
  })

  it('does not answer for `localhost` if the system refuses the other address to it alone', async () => {
    const { listen: real } = SocketServer.prototype
    const refuse = function (this: SocketServer, at: { readonly host?: string }, done: () => void) {
      if (at.host !== '::1') return Reflect.apply(real, this, [at, done])
      queueMicrotask(() => this.emit('error', Object.assign(new Error(), { code: 'EPERM' })))
      return this
    }
    vi.spyOn(SocketServer.prototype, 'listen').mockImplementation(refuse as never)
    onTestFinished(() => void vi.restoreAllMocks())
    const { port, holdsLocalhost } = await open('127.0.0.1')
    expect([holdsLocalhost, await ask('127.0.0.1', port)]).toEqual([false, '127.0.0.1'])
  })

  it('frees both addresses when it stops, once their connections are closed', async () => {
    const { server, port, stop } = await open('127.0.0.1')
    const socket = connect(port, '::1')
    await Promise.all([once(socket, 'connect'), once(server, 'connection')])
    let isStopped = false
    const stopped = stop().then(() => {
      isStopped = true
    })
    for (const host of ['127.0.0.1', '::1'])
      await expect(ask(host, port)).rejects.toThrow('ECONNREFUSED')
    expect(isStopped).toBe(false)
    socket.destroy()
    await stopped
    await hold('::1', port)
    await hold('127.0.0.1', port)
  })
})
