import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import type { Logger } from '#core/base/logger'
import { openMemoryStore } from '#core/store/memory/open'
import { Recorder } from '../../runtime/client-sessions/recorder.ts'
import { type ProxyOptions, type RunningProxy, serveProxy } from './serve.ts'

const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

/** A provider that answers every request with these bytes, and a proxy in front of it. */
async function start(
  answer: (asked: string) => string,
  more: Partial<ProxyOptions> = {},
): Promise<RunningProxy & { readonly lines: unknown[] }> {
  const sockets = new Set<Socket>()
  const provider = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    let asked = ''
    socket.on('data', (data) => {
      asked += data.toString('latin1')
      if (isWhole(asked)) socket.end(answer(asked), 'latin1')
    })
  })
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    provider.close()
  })
  const lines: unknown[] = []
  const write = (...line: unknown[]) => void lines.push(line)
  const logger: Logger = { debug: write, info: write, warn: write, error: write }
  const recorder = new Recorder({ store: openMemoryStore(), clock: systemClock, logger })
  closers.push(() => recorder.close())
  const url = new URL(`http://127.0.0.1:${(provider.address() as AddressInfo).port}`)
  const upstreams = { anthropic: url, openai: url }
  const proxy = await serveProxy({ recorder, upstreams, logger, ...more })
  closers.push(() => proxy.close())
  return { ...proxy, lines }
}

function isWhole(asked: string): boolean {
  const [head = '', body] = asked.split('\r\n\r\n')
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
  return body !== undefined && body.length >= length
}

const BODY = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
const PATHS = ['/v1/messages', '/v1/files']

/** What the client receives until the connection ends; empty: it was closed without an answer. */
async function ask(port: number, path: string): Promise<string> {
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-session-id: s\r\nconnection: close`
  return await exchange(port, `${head}\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`)
}

async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  const chunks: Buffer[] = []
  try {
    for await (const chunk of socket) chunks.push(chunk as Buffer)
  } catch {
    // Cut off.
  }
  return Buffer.concat(chunks).toString('latin1')
}

const UPGRADE =
  'GET /v1/realtime HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: x\r\n'
const REST = 'content-length: 2\r\n\r\nok'

describe('an answer that cannot be passed on as it is', () => {
  it.each([
    ['a control character in the reason', `HTTP/1.1 200 O\x01K\r\n${REST}`, '200 OK', 'ok'],
    ['DEL in the reason', `HTTP/1.1 429 O\x7fK\r\n${REST}`, '429 Too Many Requests', 'ok'],
    ['a byte beyond ASCII in the reason', `HTTP/1.1 200 O\x80K\r\n${REST}`, '', 'ok'],
    ['a tab in the reason', `HTTP/1.1 200 O\tK\r\n${REST}`, '200 O\tK', 'ok'],
    ['an unknown status', `HTTP/1.1 999 \x01\r\n${REST}`, '999 ', 'ok'],
    ['a status below 100', `HTTP/1.1 099 x\r\n${REST}`, '502 Bad Gateway', 'invalid'],
    ['a header value with a control character', `HTTP/1.1 200 OK\r\nx: a\x01b\r\n${REST}`, '', ''],
    ['a header name with a space', `HTTP/1.1 200 OK\r\nx a: b\r\n${REST}`, '', ''],
    [
      'a thousand interim answers',
      `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)}HTTP/1.1 103 \x01\r\n\r\nHTTP/1.1 200 OK\r\n${REST}`,
      '200 OK',
      'ok',
    ],
    [
      'trailers',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x\r\n\r\n2\r\nok\r\n0\r\nx: \x01\r\n\r\n',
      '',
      '',
    ],
    [
      'a broken chunk in the first packet',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok\r\n',
      '',
      '',
    ],
    ['no HTTP', 'garbage', '502 Bad Gateway', 'could not reach'],
    ['nothing', '', '502 Bad Gateway', 'could not reach'],
  ])('ends only its own request: %s', async (_, bytes, status, body) => {
    const { port, close } = await start((asked) =>
      asked.includes('/good') ? `HTTP/1.1 200 OK\r\n${REST}` : bytes,
    )
    for (const path of PATHS) {
      const answer = await ask(port, path)
      // Whether Node's parser accepts such a header depends on its version.
      if (status !== '') expect(answer).toContain(`HTTP/1.1 ${status}\r\n`)
      expect(answer).toContain(body)
      expect(await ask(port, '/good')).toContain('200 OK')
    }
    await close()
  })

  it.each(PATHS)('is 502 for an upgrade that the client did not request: %s', async (path) => {
    const head = 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nhello'
    const { port, close } = await start(() => head)
    expect(await ask(port, path)).toMatch(/^HTTP\/1.1 502 Bad Gateway\r\n.*invalid HTTP/s)
    await close()
  })

  it('drops a control character in the reason of an upgrade', async () => {
    const upgraded = 'upgrade: x\r\nconnection: upgrade\r\nx: \xe9\r\n\r\n'
    const { port } = await start(() => `HTTP/1.1 101 O\x01K\r\n${upgraded}done`)
    const answer = await exchange(port, `${UPGRADE}\r\n`)
    expect(answer).toContain('HTTP/1.1 101 Switching Protocols\r\n')
    expect(answer).toContain('x: \xe9\r\n')
    expect(answer.endsWith('done')).toBe(true)
  })
})

describe('a refused upgrade', () => {
  it.each([
    ['with its length', 'content-length: 7\r\n\r\nrefused', 'content-length: 7'],
    ['in chunks', 'transfer-encoding: chunked\r\n\r\n7\r\nrefused\r\n0\r\n\r\n', 'x: y'],
  ])('comes with its body, %s', async (_, rest, header) => {
    const { port } = await start(() => `HTTP/1.1 403 No\r\nx: y\r\n${rest}`)
    const [head = '', body] = (await exchange(port, `${UPGRADE}\r\n`)).split('\r\n\r\n')
    expect(head.split('\r\n')).toEqual(expect.arrayContaining(['HTTP/1.1 403 No', header]))
    expect(head).not.toContain('transfer-encoding')
    expect(body).toBe('refused')
  })

  it('with a status that does not exist ends its connection', async () => {
    const { port } = await start(() => `HTTP/1.1 099 No\r\n${REST}`)
    expect(await exchange(port, `${UPGRADE}\r\n`)).toBe('')
  })

  it.each(['content-length: 4\r\n\r\nbody', 'transfer-encoding: chunked\r\n\r\n0\r\n\r\n'])(
    'is one with a body: %j',
    async (rest) => {
      const asked: string[] = []
      const { port } = await start((each) => String(asked.push(each)))
      expect(await exchange(port, UPGRADE + rest)).toMatch(/^HTTP\/1.1 400 /)
      expect(asked).toEqual([])
    },
  )
})

describe('a fault of our own in one request', () => {
  const passage = {
    ...({ send: [Buffer.from(BODY)], purpose: 'unknown', boundary: 0, compaction: null } as const),
    take: () => {},
    end: async () => {},
  }
  const event = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {}\n\n`
  const fail = () => {
    throw new TypeError('words of a conversation')
  }

  it('in the recording leaves the answer as it is', async () => {
    for (const broken of [{ take: fail }, { end: fail }]) {
      const recorder = { begin: async () => ({ ...passage, ...broken }) }
      const { port, lines } = await start(() => event, { recorder })
      expect(await ask(port, '/v1/messages')).toContain('data: {}\n\n')
      await expect.poll(() => JSON.stringify(lines)).toContain('TypeError')
      expect(JSON.stringify(lines)).not.toContain('words of a conversation')
    }
  })

  it('anywhere else ends its connection and nothing more', async () => {
    const logger: Logger = { debug: fail, info: fail, warn: fail, error: () => {} }
    const { port } = await start(() => 'garbage', { logger })
    expect(await ask(port, '/v1/messages')).toBe('')
    expect(await ask(port, '/v1/files')).toBe('')
  })
})
