import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HTTP_LIMITS } from './access/limits.ts'
import { writeAnswer } from './exchange.ts'
import { NodeServer } from './node-server.ts'

describe('a server', () => {
  it('starts a few requests per tick of the event loop, however many arrive at once', async () => {
    const REQUESTS = 100
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
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
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

  it.each([
    ['before its answer begins', ''],
    ['while its answer is written', 'begun'],
  ])('answers no request with the refusal of a later one, %s', async (_, begun) => {
    const server = new NodeServer((_incoming, outgoing) => {
      if (begun !== '') outgoing.write(begun)
    }, HTTP_LIMITS)
    onTestFinished(() => server.close())
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    if (begun === '') await once(socket, 'connect')
    else await once(socket, 'readable')
    let answered = ''
    socket.on('data', (piece) => {
      answered += piece
    })
    socket.write('what is this\r\n\r\n')
    await once(socket, 'close')
    expect(answered).not.toContain('400')
  })

  it('refuses a body that breaks off in the middle of its request', async () => {
    const server = new NodeServer(() => {}, HTTP_LIMITS)
    onTestFinished(() => server.close())
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect(port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n')
    const [answered] = await once(socket, 'data')
    expect(String(answered)).toContain('HTTP/1.1 400 ')
  })

  it('closes only the connection of a handler that fails', async () => {
    const failures: unknown[] = []
    const server = new NodeServer(
      (incoming, outgoing) => {
        if (incoming.url === '/throws') throw new TypeError('thrown')
        if (incoming.url === '/rejects') return Promise.reject(new TypeError('rejected'))
        return outgoing.end('ok')
      },
      HTTP_LIMITS,
      () => false,
      (error) => failures.push(error),
    )
    onTestFinished(() => server.close())
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    const url = `http://127.0.0.1:${port}`
    await expect(fetch(`${url}/throws`)).rejects.toThrow()
    await expect(fetch(`${url}/rejects`)).rejects.toThrow()
    expect(await (await fetch(url)).text()).toBe('ok')
    expect(failures.map(String)).toEqual(['TypeError: thrown', 'TypeError: rejected'])
  })

  it('starts the next request of a connection once the client has read the previous response', async () => {
    const answer = Buffer.alloc(4 * 1024 * 1024)
    let begun = 0
    const server = new NodeServer((incoming, outgoing) => {
      if (incoming.url === '/large') begun++
      outgoing.end(incoming.url === '/large' ? answer : '')
    }, HTTP_LIMITS)
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    const greedy = connect(port, '127.0.0.1')
    await once(greedy, 'connect')
    greedy.pause()
    greedy.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(90))
    while (begun === 0) await fetch(`http://127.0.0.1:${port}/`)
    for (let round = 0; round < 20; round++) await fetch(`http://127.0.0.1:${port}/`)
    // The operating system buffers a few.
    expect(begun).toBeLessThan(20)
    greedy.destroy()

    const endless = connect(port, '127.0.0.1')
    endless.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000))
    endless.on('error', () => {})
    endless.resume()
    await once(endless, 'close')
    await server.close()
  })

  it('refuses no client because of connections that wait for theirs', async () => {
    let begun = 0
    const server = new NodeServer(
      (incoming, outgoing) => {
        begun++
        incoming.resume().once('end', () => outgoing.end('taken'))
      },
      { ...HTTP_LIMITS, connectionsPerAddressMax: 3 },
    )
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    const holders = Array.from({ length: 3 }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nlate')
      return socket
    })
    await expect.poll(() => begun).toBe(holders.length)
    const closed = Promise.race(holders.map((each) => once(each, 'close')))
    const answered = await fetch(`http://127.0.0.1:${port}/`)
    expect([answered.status, await answered.text()]).toEqual([200, 'taken'])
    await closed
    for (const each of holders) each.destroy()
    await server.close()
  })
})

it('with every connection in use, the longest idle one makes room for a client elsewhere', async () => {
  let isBehindProxy = false
  const server = new NodeServer(
    (_, outgoing) => outgoing.end('taken'),
    { ...HTTP_LIMITS, connectionsMax: 2 },
    () => isBehindProxy,
  )
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => server.close())
  const idle = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')] as const
  for (const socket of idle) {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
  }
  isBehindProxy = true
  const closed = once(idle[0], 'close')
  const answered = await fetch(`http://127.0.0.1:${port}/`)
  expect([answered.status, await answered.text()]).toEqual([200, 'taken'])
  await closed
  expect(idle[1].destroyed).toBe(false)
  idle[1].destroy()
})

describe('an answer', () => {
  const ask = async (method: string, text: string | Buffer | null) => {
    const server = new NodeServer((_, outgoing) => {
      writeAnswer(outgoing, text === null ? 204 : 200, { etag: '"a"' }, text)
    }, HTTP_LIMITS)
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    onTestFinished(() => server.close())
    return await fetch(`http://127.0.0.1:${port}/`, { method })
  }

  it.each(['grün', Buffer.from('grün')])('names its length in bytes', async (text) => {
    const answer = await ask('GET', text)
    expect(answer.headers.get('content-length')).toBe('5')
    expect(answer.headers.get('etag')).toBe('"a"')
    expect(await answer.text()).toBe('grün')
  })

  it('to HEAD names the length of what GET would send, and sends nothing', async () => {
    const answer = await ask('HEAD', 'grün')
    expect(answer.headers.get('content-length')).toBe('5')
    expect(await answer.text()).toBe('')
  })

  it('without content has no length', async () => {
    const answer = await ask('GET', null)
    expect(answer.status).toBe(204)
    expect(answer.headers.get('content-length')).toBeNull()
  })
})
