import { createServer, request as forward } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { explainOutcome } from '../../packages/server/src/model/outcomes/outcome.ts'
import { asking, hear, listen, openBench, within } from './bench.ts'
import { selfSigned } from './self-signed.ts'

/** Model servers behind a proxy: a name that only the proxy can find, plain and over TLS. */
const HOST = 'models.example'
const { key, cert } = selfSigned({ names: [HOST] })
let standIn: Awaited<ReturnType<typeof openBench>>
let secure: Awaited<ReturnType<typeof openSecure>>
let proxy: Awaited<ReturnType<typeof openProxy>>
let bench: Awaited<ReturnType<typeof openBench>>
beforeAll(async () => {
  setDefaultCACertificates([...getCACertificates(), cert])
  standIn = await openBench()
  secure = await openSecure()
  proxy = await openProxy()
  const environment = { HTTPS_PROXY: proxy.uri, http_proxy: proxy.uri, NO_PROXY: 'direct.example' }
  bench = await openBench({ environment })
})
afterAll(async () => {
  await bench.close()
  await proxy.close()
  await secure.close()
  await standIn.close()
})

const ask = async (baseUrl: string, deadlines = {}, from = bench) => {
  const model = from.modelOf('openai-chat', { baseUrl })
  // Each on its own connection, so that every one of them needs the proxy.
  return await hear(model.stream(asking('say hi'), { ...within(deadlines), isFresh: true }))
}

it.each(['https', 'http'])('an answer comes through the proxy over %s', async (scheme) => {
  const before = proxy.seen.length
  const { end, text } = await ask(`${scheme}://${HOST}/v1`)
  expect(end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
  expect(text).not.toBe('')
  const [seen] = proxy.seen.slice(before)
  expect(seen?.target).toBe(
    scheme === 'https' ? `CONNECT ${HOST}:443` : `POST http://${HOST}/v1/chat/completions`,
  )
  // Headers for the proxy stay there, and no one sees the credential on a secure connection.
  expect(seen?.authorization).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`)
  expect(standIn.server.journal.last?.headers['proxy-authorization']).toBeUndefined()
})

it('a server on this host is called directly', async () => {
  const before = proxy.seen.length
  const { end } = await ask(`${standIn.url}/v1`)
  expect(end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
  expect(proxy.seen).toHaveLength(before)
})

it('a proxy that refuses, is down or is unsupported is reported as the proxy, not as the server', async () => {
  proxy.refuse()
  const outcomes = [await ask(`https://${HOST}/v1`)]
  for (const HTTPS_PROXY of ['http://127.0.0.1:9', 'socks5://127.0.0.1:9']) {
    const other = await openBench({ environment: { HTTPS_PROXY } })
    outcomes.push(await ask(`https://${HOST}/v1`, {}, other))
    await other.close()
  }
  for (const { end } of outcomes) {
    expect(end.outcome).toEqual({ kind: 'connection', fault: 'proxy', freshLoanHelps: false })
    expect(explainOutcome(end.outcome)).toMatch(/HTTPS_PROXY/)
  }
})

it('a proxy that never answers is waited for as long as for any connection', async () => {
  proxy.stall()
  const { end } = await ask(`https://${HOST}/v1`, { connectMs: 200 })
  expect(end.outcome).toEqual({ kind: 'deadline', deadline: 'connect' })
})

/** Hands on to the stand-in, whatever name it was asked for by. */
async function openSecure() {
  const server = createSecure({ key, cert }, (asked, answer) => {
    const { method = 'POST', url = '/', headers } = asked
    const on = forward(`${standIn.url}${url}`, { method, headers, agent: false }, (answered) => {
      answer.writeHead(answered.statusCode ?? 500, answered.headers)
      answered.pipe(answer)
    })
    asked.pipe(on)
  })
  return await listen(server)
}

async function openProxy() {
  const seen: { target: string; authorization: string | undefined }[] = []
  const sockets = new Set<Socket>()
  let way: 'connects' | 'refuses' | 'stalls' = 'connects'
  const note = (target: string, headers: NodeJS.Dict<string | string[]>) =>
    seen.push({ target, authorization: headers['proxy-authorization'] as string | undefined })
  const server = createServer((asked, answer) => {
    const { method = '', url = '', headers } = asked
    note(`${method} ${url}`, headers)
    const { pathname } = new URL(url)
    const { 'proxy-authorization': _, ...others } = headers
    const on = forward(
      `${standIn.url}${pathname}`,
      { method, headers: others, agent: false },
      (answered) => {
        answer.writeHead(answered.statusCode ?? 500, answered.headers)
        answered.pipe(answer)
      },
    )
    asked.pipe(on)
  })
  server.on('connect', (asked, socket: Socket) => {
    note(`CONNECT ${asked.url}`, asked.headers)
    sockets.add(socket.on('error', () => {}))
    const now = way
    way = 'connects'
    if (now === 'refuses') socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    if (now !== 'connects') return
    const on = connect(Number(new URL(secure.url).port), '127.0.0.1')
    sockets.add(on.on('error', () => {}))
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    socket.pipe(on).pipe(socket)
  })
  const { close } = await listen(server)
  const { port } = server.address() as AddressInfo
  return {
    uri: `http://me:secret@127.0.0.1:${port}`,
    seen,
    refuse: () => {
      way = 'refuses'
    },
    stall: () => {
      way = 'stalls'
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await close()
    },
  }
}
