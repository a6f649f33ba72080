import type { Dispatcher } from 'undici'
import { expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import type { ConnectionLoan } from '../connections/pool.ts'
import { type AbortedBy, Exchange } from './exchange.ts'

const DEADLINES = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 }
const ORIGIN = 'http://127.0.0.1:1'

it('hands on a few of the answers that arrive at once in each turn, in order and whole', async () => {
  const handlers: Dispatcher.DispatchHandler[] = []
  const dispatcher = {
    dispatch: (_: unknown, handler: Dispatcher.DispatchHandler) => handlers.push(handler) > 0,
  }
  const loan = { dispatcher, isProxied: false, evict: () => {}, release: () => {} }
  const exchanges = Array.from(
    { length: 12 },
    () =>
      new Exchange({
        baseUrl: ORIGIN,
        loan: () => loan as unknown as ConnectionLoan,
        prepare: (body) => body,
        signal: new AbortController().signal,
        deadlines: DEADLINES,
        clock: systemClock,
      }),
  )
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const turns: number[] = []
  const texts = exchanges.map(async (exchange) => {
    const answer = await exchange.fetch(`${ORIGIN}/v1`, { body: '{}' })
    turns.push(turn)
    return await answer.text()
  })
  const controller = {} as Dispatcher.DispatchController
  for (const [at, handler] of handlers.entries()) {
    handler.onRequestStart?.(controller, {})
    handler.onResponseStart?.(controller, 200, { 'content-type': 'text/event-stream' }, 'OK')
    handler.onResponseData?.(controller, Buffer.from(`data: ${at}\n\n`))
    handler.onResponseEnd?.(controller, {})
  }
  expect(await Promise.all(texts)).toEqual(exchanges.map((_, at) => `data: ${at}\n\n`))
  // A call whose opening hangs is given up once its exchange is over.
  await Promise.all(exchanges.map(({ over }) => over))
  expect(exchanges.every((exchange) => exchange.isOver)).toBe(true)
  isOver = true
  const perTurn = [...Map.groupBy(turns, (each) => each).values()].map(({ length }) => length)
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(8)
  expect(turns).toEqual(turns.toSorted((a, b) => a - b))
})

it.each<[AbortedBy, boolean]>([
  ['connect', true],
  ['first-byte', true],
  ['idle', true],
  ['total', true],
  ['interrupt', false],
  ['consumer', false],
  ['enough', false],
  ['too-large', false],
  ['compressed', false],
])('a %s in the middle of an answer closes the line for others: %s', async (by, evicts) => {
  const handlers: Dispatcher.DispatchHandler[] = []
  const dispatcher = {
    dispatch: (_: unknown, handler: Dispatcher.DispatchHandler) => handlers.push(handler) > 0,
  }
  let evicted = 0
  const loan = { dispatcher, isProxied: false, evict: () => evicted++, release: () => {} }
  const exchange = new Exchange({
    baseUrl: ORIGIN,
    loan: () => loan as unknown as ConnectionLoan,
    prepare: (body) => body,
    signal: new AbortController().signal,
    deadlines: DEADLINES,
    clock: { ...systemClock, monotonic: () => 1 },
  })
  const answer = exchange.fetch(`${ORIGIN}/v1`, { body: '{}' })
  const [handler] = handlers
  const controller = { abort: () => {} } as unknown as Dispatcher.DispatchController
  handler?.onRequestStart?.(controller, {})
  handler?.onResponseStart?.(controller, 200, { 'content-type': 'text/event-stream' }, 'OK')
  handler?.onResponseData?.(controller, Buffer.from('data: 1\n\n'))
  await answer
  exchange.abort(by)
  expect([exchange.record.abortedBy, evicted > 0]).toEqual([by, evicts])
})
