import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import {
  type AddressInfo,
  connect,
  createServer as createSocketServer,
  type Socket,
} from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { entryNumber } from '#core/base/ids'
import { type Logger, SILENT } from '#core/base/logger'
import type { Store } from '#core/store/contract'
import { openMemoryStore } from '#core/store/memory/open'
import { openSqliteStore } from '#core/store/sqlite/open'
import { Recorder } from '../../runtime/client-sessions/recorder.ts'
import { type ProxyOptions, type RunningProxy, serveProxy } from './serve.ts'

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

/** A scripted provider, and a proxy in front of it. */
async function start(
  answer: Answer,
  store: Store = openMemoryStore(),
  logger: Logger = SILENT,
  more: Pick<ProxyOptions, 'accept'> = {},
): Promise<RunningProxy & { readonly provider: string }> {
  const provider = createServer(async (asked, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of asked) chunks.push(chunk as Buffer)
    answer(asked, response, Buffer.concat(chunks).toString())
  })
  provider.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n')
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const { port } = provider.address() as AddressInfo
  closers.push(async () => {
    provider.closeAllConnections()
    await new Promise((resolve) => provider.close(resolve))
  })
  const recorder = new Recorder({ store, clock: systemClock, logger })
  closers.push(() => recorder.close())
  const url = new URL(`http://127.0.0.1:${port}`)
  const proxy = await serveProxy({
    ...{ recorder, upstreams: { anthropic: url, openai: url }, logger, ...more },
  })
  closers.push(() => proxy.close())
  return { ...proxy, provider: url.href }
}

/** Sends these bytes and returns everything received until the connection ends. */
async function raw(port: number, bytes: string, host = '127.0.0.1'): Promise<string> {
  const socket = connect(port, host, () => socket.write(bytes))
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

const STREAM_BEGIN =
  'data: {"type":"message_start","message":{"role":"assistant"}}\n\n' +
  'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
const STREAM_END =
  'data: {"type":"content_block_stop","index":0}\n\ndata: {"type":"message_stop"}\n\n'

function deltaOf(text: string): string {
  const delta = { type: 'text_delta', text }
  return `data: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta })}\n\n`
}

const BODY = JSON.stringify({
  ...{ model: 'm', stream: true, tools: [{ name: 'Bash' }] },
  messages: [{ role: 'user', content: 'hello' }],
})
const HEADERS = {
  'content-type': 'application/json',
  'x-api-key': 'secret',
  'x-claude-code-session-id': 's',
}
const post = (url: string, more: RequestInit = {}) =>
  fetch(`${url}/v1/messages?beta=true`, { method: 'POST', headers: HEADERS, body: BODY, ...more })

describe('serveProxy', () => {
  it('forwards a request with its credentials, query and bytes, and requests uncompressed responses', async () => {
    const seen: { asked?: IncomingMessage; body?: string } = {}
    const { url } = await start((asked, response, body) => {
      Object.assign(seen, { asked, body })
      response.setHeader('x-request-id', 'r1')
      response.end('{"type":"message"}')
    })
    const answer = await post(url)
    expect(answer.headers.get('x-request-id')).toBe('r1')
    expect(seen.asked?.url).toBe('/v1/messages?beta=true')
    expect(seen.asked?.headers['x-api-key']).toBe('secret')
    expect(seen.asked?.headers['accept-encoding']).toBe('identity')
    expect(seen.body).toBe(BODY)
  })

  it('forwards each chunk before the next one arrives [proxy law 22]', async () => {
    const next = Promise.withResolvers<void>()
    const { url } = await start(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"message_start"}\n\n')
      await next.promise
      response.end('data: {"type":"message_stop"}\n\n')
    })
    const answer = await post(url)
    const reader = answer.body?.getReader()
    const first = await reader?.read()
    expect(Buffer.from(first?.value ?? []).toString()).toContain('message_start')
    next.resolve()
    const second = await reader?.read()
    expect(Buffer.from(second?.value ?? []).toString()).toContain('message_stop')
  })

  it("reports the provider's own usage, byte for byte [proxy law 15]", async () => {
    const said = 'data: {"type":"message_start","message":{"usage":{"input_tokens":7}}}\n\n'
    const { url } = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(said)
    })
    expect(await (await post(url)).text()).toBe(said)
  })

  it('writes no credential to its store or its log, also when a request fails [proxy law 19]', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-key-'))
    const store = await openSqliteStore({ path: join(folder, 'clients.db') })
    closers.push(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    const lines: unknown[] = []
    const write = (...line: unknown[]) => void lines.push(line)
    const logger = { debug: write, info: write, warn: write, error: write }
    let count = 0
    const proxy = await start(
      (_, response) => {
        count += 1
        if (count === 1) response.end('{"type":"message"}')
        else if (count === 2) response.writeHead(401).end('{}')
        else response.destroy()
      },
      store,
      logger,
    )
    const headers = { ...HEADERS, 'x-api-key': 'key-1f9c', authorization: 'Bearer key-1f9c' }
    for (let time = 0; time < 3; time += 1) await (await post(proxy.url, { headers })).text()
    await proxy.close()
    expect(await store.listSessions({ limit: 9 })).toHaveLength(1)
    expect(JSON.stringify(lines)).toContain('could not be reached')
    expect(JSON.stringify(lines)).not.toContain('key-1f9c')
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    const written = files.filter((file) => file.isFile())
    expect(written.map(({ name }) => name)).toContain('clients.db')
    for (const { parentPath, name } of written) {
      expect(readFileSync(join(parentPath, name)).includes('key-1f9c'), name).toBe(false)
    }
  })

  it("aborts the provider's request when the client disconnects", async () => {
    const left = Promise.withResolvers<void>()
    const { url } = await start((_, response) => {
      response.once('close', () => left.resolve())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {}\n\n')
    })
    const leaving = new AbortController()
    const answer = await post(url, { signal: leaving.signal })
    await answer.body?.getReader().read()
    leaving.abort()
    await left.promise
  })

  it.each([
    [
      'application/json',
      ['{"type":"message","role":"assistant","content":[{"type":"text","text":"', '"}]}'],
    ],
    ['text/event-stream', [STREAM_BEGIN, STREAM_END]],
  ])(
    'forwards an answer of 70 MB (%s) whole, and keeps none of what is beyond 64 MB',
    async (type, [begin = '', end = '']) => {
      const store = openMemoryStore()
      const piece =
        type === 'application/json' ? 'y'.repeat(1_000_000) : deltaOf('y'.repeat(1_000_000))
      const { url, close } = await start(async (_, response) => {
        response.writeHead(200, { 'content-type': type })
        response.write(begin)
        for (let at = 0; at < 70; at++) if (!response.write(piece)) await once(response, 'drain')
        response.end(end)
      }, store)
      const answer = await post(url)
      let bytes = 0
      for await (const chunk of answer.body ?? []) bytes += chunk.length
      expect(bytes).toBe(begin.length + 70 * piece.length + end.length)
      await close()
      const [session] = await store.listSessions({ limit: 1 })
      if (session === undefined) throw new Error('Nothing was recorded.')
      const { id: sessionId, tail } = session
      const entries = await store.readEntries({ sessionId, from: entryNumber(1), to: tail })
      const kept = entries.reduce((sum, { body }) => sum + (body?.length ?? 0), 0)
      expect(kept).toBeLessThan(68_000_000)
      expect(JSON.stringify(entries)).toContain('hello')
    },
    60_000,
  )

  it('never ends a response cleanly that the provider cut off', async () => {
    const { url } = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {}\n\n', () => response.destroy())
    })
    const answer = await post(url)
    await expect(answer.text()).rejects.toThrow()
  })

  it.each([429, 500, 529])('forwards a %d unchanged', async (status) => {
    const { url } = await start((_, response) => {
      response.writeHead(status, { 'retry-after': '3' })
      response.end('{"error":"later"}')
    })
    const answer = await post(url)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, '3'])
    expect(await answer.text()).toBe('{"error":"later"}')
  })

  it('forwards unknown requests, including upgrades', async () => {
    const { url, port } = await start((asked, response, body) => {
      response.end(`${asked.method} ${asked.url} ${body}`)
    })
    const answer = await fetch(`${url}/v1/files?x=1`, { method: 'PUT', body: 'bytes' })
    expect(await answer.text()).toBe('PUT /v1/files?x=1 bytes')
    const echoed = Promise.withResolvers<string>()
    const headers = { connection: 'Upgrade', upgrade: 'echo' }
    const upgrading = request({ port, host: '127.0.0.1', path: '/v1/realtime', headers })
    upgrading.once('upgrade', (_, socket) => {
      socket.once('data', (data: Buffer) => {
        echoed.resolve(data.toString())
        socket.destroy()
      })
      socket.write('ping')
    })
    upgrading.end()
    expect(await echoed.promise).toBe('ping')
  })

  it.each([
    '/p/gone',
    '/p/gone/v1/messages',
    '/l/launch/p/gone/v1/responses',
    '/p/',
    '/p/other.name/v1/chat/completions',
    '/p/__proto__/v1/models',
    `/p/${'n'.repeat(100)}/v1/messages`,
  ])(
    'sends the credentials of a provider that it does not know to no other one: %s',
    async (path) => {
      const seen: string[] = []
      const { url, port } = await start((asked, response) => {
        seen.push(asked.url ?? '')
        response.end()
      })
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers: HEADERS, body: BODY })
      expect([answer.status, await answer.text()]).toEqual([
        404,
        expect.stringContaining('upstream'),
      ])
      const upgrade = 'host: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n'
      const upgraded = await raw(port, `GET ${path.split('/v1')[0]}/live HTTP/1.1\r\n${upgrade}`)
      expect(upgraded).toMatch(/^HTTP\/1.1 404 /)
      expect(seen).toEqual([])
    },
  )

  it('refuses a websocket if it records, so that the client uses HTTP', async () => {
    const { port } = await start(() => {})
    const head = 'GET /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: codex\r\n'
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n\r\n'
    expect(await raw(port, head + upgrade)).toMatch(/^HTTP\/1.1 426 Upgrade Required\r\n/)
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('reads a body that came as %s, and forwards it as it was before', async (encoding, pack) => {
    const { url } = await start((asked, response, body) => {
      response.end(JSON.stringify([asked.headers['content-encoding'] ?? null, body]))
    })
    const text = '{"model":"m","messages":[{"role":"user","content":"Hello"}]}'
    const headers = { 'content-encoding': encoding, 'content-type': 'application/json' }
    const path = `${url}/v1/messages`
    const answer = await fetch(path, { method: 'POST', headers, body: pack(text) })
    expect(await answer.json()).toEqual([null, text])
    const broken = await fetch(path, { method: 'POST', headers, body: 'not packed' })
    expect([broken.status, await broken.text()]).toEqual([400, expect.stringContaining('encoding')])
    const bomb = await fetch(path, {
      method: 'POST',
      headers,
      body: pack(Buffer.alloc(65 * 2 ** 20)),
    })
    expect(bomb.status).toBe(413)
  })

  it('warns of each request on a known path that it cannot read, and of no other', async () => {
    const warned: unknown[] = []
    const warn = (facts: object, text: string) => {
      if (text.includes('not recorded')) warned.push([facts, text])
    }
    const { url } = await start((_, response, body) => response.end(body), undefined, {
      ...SILENT,
      warn,
    })
    const packed = (encoding: string, path = '/v1/messages') => {
      const headers = { 'content-encoding': encoding }
      return fetch(`${url}${path}`, { method: 'POST', headers, body: 'bytes' })
    }
    expect(await (await packed('own')).text()).toBe('bytes')
    expect(await (await packed('own', '/v1/files')).text()).toBe('bytes')
    expect((await fetch(`${url}/v1/messages`)).status).toBe(200)
    expect(await (await post(url)).text()).toBe(BODY)
    expect(warned).toEqual([
      [{ encoding: 'own', bytes: '5' }, 'a request was not recorded: it cannot be read'],
    ])
  })

  it('says that the provider cannot be reached', async () => {
    const { url, provider } = await start(() => {})
    await closers.shift()?.()
    const answer = await post(url)
    expect(answer.status).toBe(502)
    expect(await answer.text()).toContain('ECONNREFUSED')
    expect(provider).toContain('127.0.0.1')
  })

  it.each([
    ['from another site', 'sec-fetch-site: cross-site'],
    ['of a browser that names its origin only', 'origin: https://page.example'],
    ['that another program left at our address', 'sec-fetch-site: same-origin'],
    ['of our own origin', 'origin: http://127.0.0.1'],
    ['under a name of its own', 'host: page.example'],
  ])('answers no page %s, nor its websocket', async (_, header) => {
    const { port } = await start((__, response) => response.end('{}'))
    const host = header.startsWith('host') ? '' : 'host: 127.0.0.1\r\n'
    const head = `GET /v1/models HTTP/1.1\r\n${host}${header}\r\n`
    expect(await raw(port, `${head}connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 403 /)
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n\r\n'
    expect(await raw(port, head + upgrade)).toMatch(/^HTTP\/1.1 403 /)
  })

  it('answers under the name `localhost` at both of its addresses', async (ctx) => {
    const { port } = await start((_, response) => response.end('{}'))
    const head = `GET /v1/models HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: close\r\n\r\n`
    expect(await raw(port, head)).toMatch(/^HTTP\/1.1 200 /)
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
    if (!addresses.some(({ address }) => address === '::1'))
      return ctx.skip('the rest is not run: this machine has no [::1]')
    expect(await raw(port, head, '::1')).toMatch(/^HTTP\/1.1 200 /)
  })

  it('does not answer under that name for a port that another process holds', async () => {
    const taking = Promise.withResolvers<(socket: Socket) => void>()
    const accept = taking.resolve
    await start((_, response) => response.end('{}'), openMemoryStore(), SILENT, { accept })
    const holder = createSocketServer(await taking.promise)
    await once(holder.listen(0, '127.0.0.1'), 'listening')
    closers.push(() => new Promise((resolve) => holder.close(resolve)))
    const at = (holder.address() as AddressInfo).port
    const ask = (host: string) =>
      raw(at, `GET /v1/models HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    for (const host of ['localhost', `localhost:${at}`])
      expect(await ask(host)).toMatch(/^HTTP\/1.1 403 .*Use http:\/\/127.0.0.1/s)
    expect(await ask(`127.0.0.1:${at}`)).toMatch(/^HTTP\/1.1 200 /)
  })

  it('answers no request with two Host headers, nor its websocket', async () => {
    const { port } = await start((_, response) => response.end('{}'))
    const head = 'GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: page.example\r\n'
    for (const rest of ['connection: close', 'connection: upgrade\r\nupgrade: websocket']) {
      expect(await raw(port, `${head}${rest}\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /)
    }
  })

  it.each(['GET x://', 'OPTIONS *'])('answers %s itself, even as an upgrade', async (line) => {
    const { port, url } = await start((_, response) => response.end('{}'))
    const head = `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: claude\r\n`
    expect(await raw(port, `${head}connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /)
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n\r\n'
    expect(await raw(port, head + upgrade)).toMatch(/^HTTP\/1.1 400 /)
    expect((await post(url)).status).toBe(200)
  })

  it.each(['GET', 'DELETE'])(
    'never lets the body of a %s be read as a second request',
    async (method) => {
      const hidden = 'GET /hidden HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'
      const seen: string[] = []
      const { port } = await start((asked, response, body) => {
        seen.push(`${asked.method} ${asked.url} ${body}`)
        response.end('{}')
      })
      const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
      const head = `${method} /v1/files HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n`
      await raw(port, `${head}transfer-encoding: chunked\r\n\r\n${chunk}`)
      expect(seen).toEqual([`${method} /v1/files ${hidden}`])
    },
  )

  it('closes while a websocket is open', async () => {
    const { port, close } = await start(() => {})
    const left = Promise.withResolvers<void>()
    const headers = { connection: 'Upgrade', upgrade: 'echo' }
    const upgrading = request({ port, host: '127.0.0.1', path: '/v1/realtime', headers })
    const opened = new Promise<void>((resolve) =>
      upgrading.once('upgrade', (_, socket) => {
        socket.once('close', () => left.resolve())
        socket.on('error', () => {})
        socket.resume()
        resolve()
      }),
    )
    upgrading.end()
    await opened
    await close()
    await left.promise
  })

  it('passes a launch id in the URL to the recorder and not to the provider', async () => {
    let path = ''
    const { url } = await start((asked, response) => {
      path = asked.url ?? ''
      response.end('{}')
    })
    await post(`${url}/l/pi-0f3a`)
    expect(path).toBe('/v1/messages?beta=true')
  })
})
