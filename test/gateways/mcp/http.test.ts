import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { UNANSWERED_MAX } from '../../../packages/server/src/tools/mcp/http-transport.ts'
import type { McpAddress } from '../../../packages/server/src/tools/mcp/server-config.ts'
import { until } from '../../support/until.ts'
import { closeAfterAll, closeLater, openWorld } from './world.ts'

closeAfterAll()

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => unknown

/** Listens on loopback until the file has ended. */
async function listen(handle: Handle): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    await handle(request, response, body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closeLater(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

function address(url: string, more: Partial<McpAddress> = {}): McpAddress {
  return { kind: 'address', url, headers: {}, startMs: 5_000, callMs: 5_000, ...more }
}

/** The official server, behind an address. */
async function official(
  seen: string[] = [],
  legacy: 'stateless' | 'reject' = 'stateless',
): Promise<string> {
  const makeServer = () => {
    const server = new McpServer({ name: 'sums', version: '1' })
    const inputSchema = z.object({ a: z.number(), b: z.number() })
    server.registerTool('add', { description: 'Adds.', inputSchema }, ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
    }))
    return server
  }
  const handler = createMcpHandler(makeServer, { legacy })
  return await listen(async (request, response, body) => {
    seen.push(`${request.headers.authorization} ${request.headers['x-team']}`)
    const { method = 'GET', headers } = request
    const asked = new Request(`http://${headers.host}${request.url}`, {
      method,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, `${value}`]),
      ...(method === 'POST' && { body }),
    })
    const answer = await handler.fetch(asked)
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) response.end()
    else Readable.fromWeb(answer.body as never).pipe(response)
  })
}

interface Asked {
  readonly id?: unknown
  readonly method?: string
}

/** A hand-written server with the tool `one`; it answers what `handle` does not. True: `handle` answered. */
async function byHand(
  handle: (request: IncomingMessage, response: ServerResponse, asked: Asked) => boolean,
): Promise<string> {
  return await listen((request, response, body) => {
    const asked = JSON.parse(body || '{}') as Asked
    if (handle(request, response, asked)) return
    const { id, method } = asked
    const capabilities = { tools: {} }
    const serverInfo = { name: 'x', version: '1' }
    const results: { readonly [method: string]: object } = {
      initialize: { protocolVersion: '2025-06-18', serverInfo, capabilities },
      'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' } }] },
    }
    const result = results[method ?? '']
    if (result === undefined) {
      return response.writeHead(method?.startsWith('notifications/') ? 202 : 404).end()
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
}

describe('a server with a URL', () => {
  it('gets its calls with the headers it asks for', async () => {
    const seen: string[] = []
    const url = await official(seen)
    const terms = { headers: { 'x-team': 'blue' }, credential: { kind: 'variable', name: 'K' } }
    const { call } = await openWorld(
      { sums: address(url, terms) },
      { readSecret: async ({ name }) => `value of ${name}` },
    )
    expect(await call('sums__add', { a: 2, b: 3 })).toEqual({ outcome: 'ok', output: '5' })
    expect(new Set(seen)).toEqual(new Set(['Bearer value of K blue']))
  })

  it('may speak only the newest version of the protocol', async () => {
    const { servers, call } = await openWorld({ sums: address(await official([], 'reject')) })
    expect(servers.problems).toEqual([])
    expect(await call('sums__add', { a: 2, b: 3 })).toEqual({ outcome: 'ok', output: '5' })
  })

  it('cannot send us, or our keys, to another place', async () => {
    const elsewhere: string[] = []
    const other = await official(elsewhere)
    const url = await listen((_, response) => response.writeHead(307, { location: other }).end())
    const { servers, tools } = await openWorld({ sly: address(url) })
    expect(elsewhere).toEqual([])
    expect(tools()).toEqual([])
    expect(servers.problems.join()).toContain('redirect')
  })

  it('that refuses is named by its status, without its words', async () => {
    const url = await listen((_, response) => response.writeHead(500).end('the key is hidden'))
    const told: string[] = []
    const onState = ({ reason }: { readonly reason: string }) => told.push(reason)
    const { servers } = await openWorld({ bad: address(url) }, { onState })
    expect(told).toEqual(['it cannot be reached (HTTP 500)'])
    expect(servers.problems).toEqual([`MCP server bad of agent ada: ${told[0]}`])
  })

  it('that is not there, or answers without end, is down and harms nothing', async () => {
    const endless = await listen((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const piece = 'x'.repeat(1_000_000)
      const more = () => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    const { servers, call } = await openWorld({
      absent: address('http://127.0.0.1:9/mcp'),
      endless: address(endless),
      sums: address(await official()),
    })
    expect(servers.problems).toHaveLength(2)
    expect(await call('sums__add', { a: 1, b: 1 })).toEqual({ outcome: 'ok', output: '2' })
  })

  it('that sends endless requests and accepts no answer holds a bounded number of connections', async () => {
    let [open, most] = [0, 0]
    const url = await listen((request, response, body) => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (let n = 0; n < 3 * UNANSWERED_MAX; n++) {
          response.write(
            `data: ${JSON.stringify({ jsonrpc: '2.0', id: `p${n}`, method: 'ping' })}\n\n`,
          )
        }
        return
      }
      const { id, method } = JSON.parse(body || '{}') as { id?: unknown; method?: string }
      const result =
        method === 'initialize'
          ? {
              ...{ protocolVersion: '2025-06-18', serverInfo: { name: 'x', version: '1' } },
              capabilities: { tools: {} },
            }
          : { tools: [] }
      if (method === undefined && id !== undefined) {
        open += 1
        most = Math.max(most, open)
        return
      }
      if (method === 'initialize' || method === 'tools/list') {
        response.writeHead(200, { 'content-type': 'application/json' })
        return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      }
      return response.writeHead(method?.startsWith('notifications/') ? 202 : 404).end()
    })
    const { call } = await openWorld({ bad: address(url), sums: address(await official()) })
    // All questions come at once; the last few places may be taken by what else is asked.
    await until(() => most >= UNANSWERED_MAX - 5)
    expect(await call('sums__add', { a: 1, b: 1 })).toEqual({ outcome: 'ok', output: '2' })
    expect(most).toBeLessThanOrEqual(UNANSWERED_MAX)
  })

  it('may send any number of events, but a single endless one ends it, with the reason', async () => {
    const url = await listen((_, response, body) => {
      const { id, method, params } = JSON.parse(body || '{}') as {
        id?: unknown
        method?: string
        params?: { name?: string }
      }
      const piece = 'x'.repeat(1_000_000)
      const answer = (result: object) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      }
      if (method === 'tools/call') {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        if (params?.name === 'long') {
          for (let n = 0; n < 20; n++) response.write(`: ${piece}\n\n`)
          response.write(`: ${'x'.repeat(15_000_000)}\n\n`)
          const result = { content: [{ type: 'text', text: 'done' }] }
          return response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
        }
        response.write('data: ')
        const more = () => {
          while (!response.destroyed && response.write(piece));
          if (!response.destroyed) response.once('drain', more)
        }
        return more()
      }
      if (method === 'initialize') {
        const serverInfo = { name: 'x', version: '1' }
        return answer({ protocolVersion: '2025-06-18', serverInfo, capabilities: { tools: {} } })
      }
      const inputSchema = { type: 'object' }
      const tools = ['long', 'endless'].map((name) => ({ name, description: name, inputSchema }))
      if (method === 'tools/list') return answer({ tools })
      return response.writeHead(method?.startsWith('notifications/') ? 202 : 405).end()
    })
    const { call } = await openWorld({ bad: address(url, { callMs: 60_000 }) })
    expect(await call('bad__long')).toEqual({ outcome: 'ok', output: 'done' })
    const { outcome, output } = await call('bad__endless')
    expect(outcome).toBe('error')
    expect(output).toContain('more than 16777216 bytes')
    await until(async () => (await call('bad__long')).outcome === 'ok')
  })

  it('that ends its stream and asks for no pause is called once a second', async () => {
    const calls: number[] = []
    const url = await byHand((request, response) => {
      if (request.method !== 'GET') return false
      calls.push(performance.now())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('retry: 0\nid: a\ndata:\n\n')
      return true
    })
    await openWorld({ bad: address(url) })
    await until(() => calls.length >= 3)
    const [first = 0, second = 0, third = 0] = calls
    expect(second - first).toBeGreaterThan(900)
    expect(third - second).toBeGreaterThan(900)
  })

  it('that streams lines without an end is ended, also if it calls them something else', async () => {
    const url = await byHand((request, response) => {
      if (request.method !== 'GET') return false
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('x\n\n'.repeat(50_000))
      return true
    })
    const { servers } = await openWorld({ bad: address(url) })
    await until(() => servers.problems.length > 0)
    expect(servers.problems.join()).toContain('more than 300000 values within 10 s')
  })

  it('ends its lines with line feeds: returns have no effect', async () => {
    const url = await byHand((_, response, { id, method }) => {
      if (method !== 'tools/call') return false
      const said = (text: string) => {
        const result = { content: [{ type: 'text', text }] }
        return `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}`
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`: a comment\r${said('no')}\r\n\r\n${said('yes')}\r\n\r\n`)
      return true
    })
    const { call } = await openWorld({ odd: address(url) })
    expect(await call('odd__one')).toEqual({ outcome: 'ok', output: 'yes' })
  })
})
