import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { HTTP_LIMITS } from './limits.ts'
import { NodeServer } from './node-server.ts'

describe('a server', () => {
  it('begins a few requests per turn of the event loop, however many arrive at once', async () => {
    const REQUESTS = 300
    const begun: number[] = []
    let turn = 0
    let isOver = false
    const count = () => {
      turn++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const server = new NodeServer((incoming, outgoing) => {
      begun.push(turn)
      outgoing.end(incoming.url)
    }, HTTP_LIMITS)
    const { port } = await server.listen('127.0.0.1', 0)
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    // In one packet, so that the parser finds them all at once.
    const asked = Array.from(
      { length: REQUESTS },
      (_, n) => `GET /${n}; HTTP/1.1\r\nHost: a\r\n\r\n`,
    )
    socket.write(asked.join(''))
    let answered = ''
    for await (const piece of socket) {
      answered += piece
      if (answered.includes(`/${REQUESTS - 1};`)) break
    }
    isOver = true
    await server.close()
    const perTurn = [...Map.groupBy(begun, (each) => each).values()].map(({ length }) => length)
    expect(begun).toHaveLength(REQUESTS)
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(40)
    const order = [...answered.matchAll(/\/(\d+);/g)].map((match) => Number(match[1]))
    expect(order).toEqual(Array.from({ length: REQUESTS }, (_, n) => n))
  })
})
