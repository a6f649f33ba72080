import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HTTP_LIMITS } from '../access/limits.ts'
import { openStream, readJsonBody, readSigned, writeAnswer } from '../exchange.ts'
import { HttpProblem } from '../problems.ts'

const LIMITS = { ...HTTP_LIMITS, bodyBytesMax: 10 }

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** A server that handles one request, and the whole answer to it. */
async function exchange(
  handle: (incoming: IncomingMessage, outgoing: ServerResponse) => unknown,
  { method = 'POST', headers = {}, body }: Asked = {},
) {
  const server = createServer(handle)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return await new Promise<object>((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, headers }, async (answer) => {
      let text = ''
      for await (const piece of answer.setEncoding('utf8')) text += piece
      const { date: _, connection: __, 'keep-alive': ___, ...rest } = answer.headers
      resolve({ status: answer.statusCode, headers: rest, text })
    })
    sent.once('error', reject).end(body)
  })
}

/** What reading a body gave: its value, or its problem. */
async function read<Value>(
  reader: (incoming: IncomingMessage, limits: typeof LIMITS) => Promise<Value>,
  asked: Asked,
): Promise<unknown> {
  let found: unknown
  await exchange(async (incoming, outgoing) => {
    found = await reader(incoming, LIMITS).catch((error: unknown) => {
      if (!(error instanceof HttpProblem)) throw error
      const { code, detail, facts } = error
      return [code, facts, ...(detail === undefined ? [] : [detail])]
    })
    // What is left of a refused body.
    incoming.resume()
    outgoing.end()
  }, asked)
  return found
}

const SAFE = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

describe('an answer', () => {
  it.each<[string, string, string | Buffer | null, object, string]>([
    ['a text', 'GET', 'Grüße', { 'content-length': '7' }, 'Grüße'],
    ['bytes', 'GET', Buffer.from('abc'), { 'content-length': '3' }, 'abc'],
    ['an empty text', 'GET', '', { 'content-length': '0' }, ''],
    ['nothing', 'GET', null, { 'transfer-encoding': 'chunked' }, ''],
    ['no text to HEAD', 'HEAD', 'Grüße', { 'content-length': '7' }, ''],
  ])('has every safe header and its length: %s', async (_, method, given, headers, text) => {
    const handle = (__: IncomingMessage, outgoing: ServerResponse) =>
      writeAnswer(outgoing, 201, { 'x-own': 'a', 'cache-control': 'max-age=5' }, given)
    expect(await exchange(handle, { method })).toEqual({
      status: 201,
      headers: { ...SAFE, 'x-own': 'a', 'cache-control': 'max-age=5', ...headers },
      text,
    })
  })

  it('that streams events is sent at once, and buffered nowhere', async () => {
    const handle = (_: IncomingMessage, outgoing: ServerResponse) => {
      openStream(outgoing, { 'x-own': 'a' })
      outgoing.end('data: 1\n\n')
    }
    expect(await exchange(handle)).toEqual({
      status: 200,
      headers: {
        ...{ ...SAFE, 'x-own': 'a', 'content-type': 'text/event-stream; charset=utf-8' },
        ...{ 'x-accel-buffering': 'no', 'transfer-encoding': 'chunked' },
      },
      text: 'data: 1\n\n',
    })
  })
})

const TOO_LARGE = ['too-large', { limit: 10 }]
const chunked = { 'transfer-encoding': 'chunked' }
const json = { 'content-type': 'application/json' }

describe('a signed request', () => {
  const signed = {
    ...{ 'webhook-id': 'm1', 'webhook-timestamp': '5', 'webhook-signature': 'v1,x' },
  }

  it('is read whole, as bytes', async () => {
    expect(await read(readSigned, { headers: signed, body: Buffer.from([0xff, 1]) })).toEqual({
      ...{ id: 'm1', timestamp: '5', signature: 'v1,x', bytes: Buffer.from([0xff, 1]) },
    })
    expect(await read(readSigned, {})).toEqual({
      ...{ id: '', timestamp: '', signature: '', bytes: Buffer.alloc(0) },
    })
  })

  it.each([{}, chunked])('of ten bytes at most is taken, with %j', async (headers) => {
    const ten = 'x'.repeat(10)
    expect(await read(readSigned, { headers, body: ten })).toMatchObject({
      bytes: Buffer.from(ten),
    })
    expect(await read(readSigned, { headers, body: `${ten}x` })).toEqual(TOO_LARGE)
  })
})

describe('a body of JSON', () => {
  it.each<[string, Asked, unknown]>([
    ['none', {}, undefined],
    ['none of any type', { headers: { 'content-type': 'text/plain' } }, undefined],
    ['an object', { headers: json, body: '{"a":1}' }, { a: 1 }],
    ['one in pieces', { headers: { ...json, ...chunked }, body: '{"a":1}' }, { a: 1 }],
    [
      'one that names its encoding',
      { headers: { 'content-type': 'Application/JSON ; charset=UTF-8 ' }, body: '5' },
      5,
    ],
    ['another type', { headers: { 'content-type': 'text/plain' }, body: '5' }, ['media-type', {}]],
    [
      'another encoding',
      { headers: { 'content-type': 'application/json; charset=latin1' }, body: '5' },
      ['media-type', {}],
    ],
    ['no type', { body: '5' }, ['media-type', {}]],
    [
      'a compressed one',
      { headers: { ...json, 'content-encoding': 'gzip' }, body: '5' },
      ['media-type', {}, 'Compressed bodies are not accepted.'],
    ],
    [
      'bytes that are no text',
      { headers: json, body: Buffer.from([0x22, 0xff, 0x22]) },
      ['bad-json', {}, 'The text is not UTF-8.'],
    ],
    ['a long one', { headers: json, body: `"${'x'.repeat(9)}"` }, TOO_LARGE],
  ])('is read: %s', async (_, asked, expected) => {
    expect(await read(readJsonBody, asked)).toEqual(expected)
  })

  it('that is cut off is a bad request', async () => {
    const found = Promise.withResolvers<unknown>()
    const server = createServer((incoming) => {
      readJsonBody(incoming, LIMITS).catch(({ code }: HttpProblem) => found.resolve(code))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    onTestFinished(() => void server.close())
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const head =
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n'
    socket.write(`${head}{"a`, () => socket.destroy())
    expect(await found.promise).toBe('bad-request')
  })
})
