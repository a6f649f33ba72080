import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { FakeClock } from '../../../../../test/model/fake-clock.ts'
import { HttpTransport } from './http-transport.ts'

/** A server of a URL, and what it was asked. */
async function open(answer: (response: ServerResponse) => void) {
  const asked: unknown[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    const { method, url, headers } = request
    asked.push([`${method} ${url}`, headers['x-key'], body === '' ? null : JSON.parse(body).method])
    answer(response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  const clock = new FakeClock()
  const transport = new HttpTransport(url, { headers: { 'x-key': 'k' }, clock })
  await transport.start()
  onTestFinished(async () => {
    await transport.close()
    server.closeAllConnections()
    server.close()
  })
  const send = (method: string) => transport.send({ jsonrpc: '2.0', method })
  return { transport, send, asked }
}

it('sends every message with the headers of the operator', async () => {
  const { send, asked } = await open((response) => response.writeHead(202).end())
  await send('notifications/one')
  expect(asked).toEqual([['POST /mcp', 'k', 'notifications/one']])
})

it('leaves 100 requests unanswered at most, and goes on when one is answered', async () => {
  const waiting: ServerResponse[] = []
  const { send, asked } = await open((response) => void waiting.push(response))
  const sent = Array.from({ length: 100 }, (_, at) => send(`notifications/n${at}`))
  await expect.poll(() => waiting.length, { timeout: 60_000 }).toBe(100)
  await expect(send('notifications/more')).rejects.toThrow('it leaves 100 requests unanswered')
  waiting.shift()?.writeHead(202).end()
  await Promise.race(sent)
  const next = send('notifications/next')
  await expect.poll(() => asked.at(-1)).toEqual(['POST /mcp', 'k', 'notifications/next'])
  for (const response of waiting) response.writeHead(202).end()
  await Promise.all([...sent, next])
  expect(asked).toHaveLength(101)
})

it.each([300, 302, 307, 399])('follows no redirect (%i)', async (status) => {
  const { send, asked } = await open((response) => {
    response.writeHead(status, { location: '/other' }).end('x')
  })
  await expect(send('notifications/one')).rejects.toThrow(
    'it answered with a redirect, which is never followed',
  )
  expect(asked).toHaveLength(1)
})
