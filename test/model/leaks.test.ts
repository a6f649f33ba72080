import { readdirSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { Exchange } from '../../packages/server/src/model/calls/exchange.ts'
import { DEADLINES } from '../../packages/server/src/model/connections/deadlines.ts'
import { Pool } from '../../packages/server/src/model/connections/pool.ts'

const EVICTIONS = 10_000
const AT_ONCE = 25

/** Sockets and timers of this process, those of the server included. */
function resources(): number {
  const kinds = process.getActiveResourcesInfo()
  return kinds.filter((kind) => kind === 'TCPSocketWrap').length
}

function descriptors(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}

it('ten thousand evictions leak no connection, no descriptor and no line of the pool', async () => {
  const stalled = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: {}\n\n')
    if (request.url === '/whole') response.end()
    else stalled.add(response.once('close', () => stalled.delete(response)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const pool = new Pool()
  const before = { resources: resources(), descriptors: descriptors() }

  let evictions = 0
  const one = async (number: number) => {
    const controller = new AbortController()
    const exchange = new Exchange({
      baseUrl: origin,
      loan: (at) => {
        const loan = pool.loan({ origin: at, route: 'main', purpose: `p${number % 3}` })
        const evict = () => {
          evictions++
          loan.evict()
        }
        return { ...loan, evict }
      },
      prepare: (body) => body,
      signal: controller.signal,
      deadlines: DEADLINES,
      clock: systemClock,
    })
    // Every tenth answer comes whole and leaves a connection that is kept; its line is evicted all
    // the same, by a neighbour, now or later.
    const isWhole = number % 10 === 0
    const answering = exchange.fetch(`${origin}${isWhole ? '/whole' : '/stall'}`, { body: '{}' })
    if (number % 7 === 0 && !isWhole) controller.abort()
    const response = await answering.catch(() => undefined)
    if (isWhole) await response?.text()
    else controller.abort()
    await exchange.over
  }

  // One in four carries a request: those without cost the most where they leak, those with take time.
  const bare = () => {
    const loan = pool.loan({ origin, route: 'main', purpose: 'bare' })
    loan.evict()
    loan.release()
    evictions++
  }

  let next = 0
  const worker = async () => {
    while (evictions < EVICTIONS) {
      await one(next++)
      for (let count = 0; count < 3; count++) bare()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  expect(pool.opened).toBeGreaterThan(EVICTIONS / AT_ONCE)
  expect(pool.lines).toBeLessThanOrEqual(4)
  await pool.close()
  expect(pool.lines).toBe(0)
  await expect.poll(() => stalled.size).toBe(0)
  await expect.poll(resources).toBeLessThanOrEqual(before.resources)
  if (before.descriptors !== undefined) {
    await expect.poll(descriptors).toBeLessThanOrEqual(before.descriptors + 2)
  }
  server.closeAllConnections()
  server.close()
})
