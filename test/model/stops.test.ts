import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { Exchange } from '../../packages/server/src/model/calls/exchange.ts'
import { DEADLINES } from '../../packages/server/src/model/connections/deadlines.ts'
import { Pool } from '../../packages/server/src/model/connections/pool.ts'

/** Begins an event stream at `/answer` and never answers at `/silence`; no response ends. */
const server = createServer((request, response) => {
  request.resume()
  if (request.url !== '/answer') return
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('data: {}\n\n')
})
const pool = new Pool()
let origin = ''

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(async () => {
  await pool.close()
  server.closeAllConnections()
  server.close()
})

function call(path: string, { idleMs = DEADLINES.idleMs } = {}) {
  const stop = new AbortController()
  const exchange = new Exchange({
    baseUrl: origin,
    loan: (at) => pool.loan({ origin: at, route: 'main', purpose: 'turn' }),
    prepare: (body) => body,
    signal: stop.signal,
    deadlines: { ...DEADLINES, idleMs },
    clock: systemClock,
  })
  return { stop, exchange, answer: exchange.fetch(`${origin}${path}`, { body: '{}' }) }
}

it('stopping an answer keeps the connections of its route; silence gives them up', async () => {
  const stopped = call('/answer')
  await stopped.answer
  stopped.stop.abort()
  await stopped.exchange.over
  expect(pool.evicted).toBe(0)

  const ignored = call('/silence')
  await once(server, 'request')
  ignored.stop.abort()
  await expect(ignored.answer).rejects.toThrow()
  expect(pool.evicted).toBe(1)

  const stalled = call('/answer', { idleMs: 50 })
  await stalled.answer
  await stalled.exchange.over
  expect(stalled.exchange.record.abortedBy).toBe('idle')
  expect(pool.evicted).toBe(2)
})
