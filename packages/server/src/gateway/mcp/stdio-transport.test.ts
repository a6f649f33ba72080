import { PassThrough, Writable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { appendInput, MCP_LINE_BYTES_MAX } from './answers.ts'
import { BoundedLines, requestId, StdioTransport } from './stdio-transport.ts'

describe('lines of the protocol', () => {
  it.each([1, 3, 7, 1_000])('come out the same in chunks of %i bytes', (size) => {
    const long = `{"jsonrpc":"2.0","id":7,"params":"${'x'.repeat(4_000)}"}`
    const sent = Buffer.from(`first ä\n\n${long}\nlast\nnot ended`)
    const lines = new BoundedLines(2_000)
    const found = []
    for (let at = 0; at < sent.length; at += size) {
      found.push(...lines.take(sent.subarray(at, at + size)))
    }
    expect(found).toEqual([
      { kind: 'whole', text: 'first ä' },
      { kind: 'whole', text: '' },
      { kind: 'too-long', head: long.slice(0, 1_024), tail: long.slice(-1_024) },
      { kind: 'whole', text: 'last' },
    ])
  })

  it.each([
    ['{"jsonrpc":"2.0","id":7,"method":"x","params":{"id":1', '"}}', 7],
    ['{"jsonrpc":"2.0","method":"tools/call","id":"a b","params":{', '}}', 'a b'],
    ['{"method":"x","params":{"id":3,"text":"', '"},"jsonrpc":"2.0","id":12}', 12],
    ['{"method":"x","params":{"id":3,"text":"', '","id":4}}', null],
    ['{"method":"x","params":{"text":"', 'without an end', null],
  ])('of a request that was not read give its own id: %s … %s', (head, tail, id) => {
    expect(requestId({ head, tail })).toBe(id)
  })

  it('can hold the largest append that the schema allows', () => {
    const text = '\u0001'.repeat(100_000)
    const at = '2026-05-01T09:00:00.123456789+02:00'
    const messages = Array.from({ length: 100 }, () => ({
      ...{ key: '\u0001'.repeat(200), role: 'assistant', text, at },
    }))
    const input = { session: 's'.repeat(64), messages }
    expect(appendInput.safeParse(input).success).toBe(true)
    expect(Buffer.byteLength(JSON.stringify(input)) + 10_000).toBeLessThan(MCP_LINE_BYTES_MAX)
    const more = [...messages.slice(1), { ...messages[0], text: `${text}x` }]
    expect(appendInput.safeParse({ ...input, messages: more }).success).toBe(false)
  })
})

describe('the transport over a pair of streams', () => {
  async function open(output: Writable = new PassThrough()) {
    const input = new PassThrough()
    const transport = new StdioTransport(input, output)
    const [received, errors]: [JSONRPCMessage[], string[]] = [[], []]
    let closings = 0
    transport.onmessage = (message) => void received.push(message)
    transport.onerror = (error) => void errors.push(error.message)
    transport.onclose = () => {
      closings += 1
    }
    await transport.start()
    const answers = () => {
      const written = output instanceof PassThrough ? String(output.read() ?? '') : ''
      return written
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as unknown)
    }
    return { input, transport, received, errors, answers, closings: () => closings }
  }

  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const

  it('receives every message of a line and skips empty lines', async () => {
    const { input, received, answers, errors } = await open()
    input.emit('data', Buffer.from(`\n  \r\n${JSON.stringify(ping)}\n${JSON.stringify(ping)}\n`))
    expect([received, answers(), errors]).toEqual([[ping, ping], [], []])
  })

  it.each([
    ['{"jsonrpc":', -32_700, 'The line is not JSON.'],
    ['{"id":1}', -32_600, 'The line is not a message of JSON-RPC 2.0.'],
    ['null', -32_600, 'The line is not a message of JSON-RPC 2.0.'],
  ])('refuses %s and continues', async (line, code, message) => {
    const { input, received, answers, errors } = await open()
    input.emit('data', Buffer.from(`${line}\n${JSON.stringify(ping)}\n`))
    expect(answers()).toEqual([{ jsonrpc: '2.0', id: null, error: { code, message } }])
    expect([received, errors]).toEqual([[ping], [message]])
  })

  it('refuses a line beyond the limit with an error for its id, and continues', async () => {
    const { input, received, answers } = await open()
    input.emit('data', Buffer.from('{"jsonrpc":"2.0","id":7,"method":"x","params":"'))
    const chunk = Buffer.alloc(8 * 1024 * 1024, 'x')
    for (let sent = 0; sent <= MCP_LINE_BYTES_MAX; sent += chunk.length) input.emit('data', chunk)
    input.emit('data', Buffer.from(`"}\n${JSON.stringify(ping)}\n`))
    const message = `The message exceeds the limit of ${MCP_LINE_BYTES_MAX} bytes; send less at once.`
    expect(answers()).toEqual([{ jsonrpc: '2.0', id: 7, error: { code: -32_600, message } }])
    expect(received).toEqual([ping])
  })

  it('writes one message per line', async () => {
    const { transport, answers } = await open()
    await transport.send(ping)
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
    expect(answers()).toEqual([ping, { jsonrpc: '2.0', id: 1, result: {} }])
  })

  it.each(['drain', 'error', 'close'])(
    'waits for a full output stream until its %s',
    async (event) => {
      const output = new Writable({ highWaterMark: 1, write: () => undefined })
      const { transport } = await open(output)
      let isSent = false
      const sent = transport.send(ping).then(() => {
        isSent = true
      })
      await new Promise((resolve) => setImmediate(resolve))
      expect(isSent).toBe(false)
      output.emit(event, new Error('gone'))
      await sent
      const names = ['drain', 'error', 'close'] as const
      expect(names.map((name) => output.listenerCount(name))).toEqual([0, 1, 0])
    },
  )

  it('reports errors of both streams until it is closed', async () => {
    const output = new PassThrough()
    const { input, transport, errors } = await open(output)
    input.emit('error', new Error('in'))
    output.emit('error', new Error('out'))
    await transport.close()
    input.emit('error', new Error('late'))
    expect(errors).toEqual(['in', 'out'])
  })

  it('closes once, and neither reads nor sends afterwards', async () => {
    const { input, transport, received, closings } = await open()
    await transport.close()
    await transport.close()
    expect([closings(), input.listenerCount('data')]).toEqual([1, 0])
    input.emit('data', Buffer.from(`${JSON.stringify(ping)}\n`))
    expect(received).toEqual([])
    await expect(transport.send(ping)).rejects.toThrow('The connection is closed.')
  })

  it('reads no further line of a chunk after a message closed it', async () => {
    const { input, transport, received } = await open()
    transport.onmessage = (message) => {
      received.push(message)
      void transport.close()
    }
    input.emit('data', Buffer.from(`${JSON.stringify(ping)}\n${JSON.stringify(ping)}\n`))
    expect(received).toHaveLength(1)
  })

  it('is answered when its input has ended and no request is left, cancelled ones not counted', async () => {
    const { input, transport, received } = await open()
    let isAnswered = false
    void transport.answered.then(() => {
      isAnswered = true
    })
    const settled = () => new Promise((resolve) => setImmediate(resolve))
    const line = (message: object) => `${JSON.stringify(message)}\n`
    input.write(line(ping) + line({ ...ping, id: 2 }))
    input.write(line({ ...ping, id: 3, method: 'subscriptions/listen' }))
    input.end(JSON.stringify({ ...ping, id: 4 }))
    await expect.poll(() => received.length).toBe(4)
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
    await transport.send({ jsonrpc: '2.0', id: 4, result: {} })
    await settled()
    expect(isAnswered).toBe(false)
    await transport.send({ jsonrpc: '2.0', id: 2, result: {} })
    await transport.answered
  })

  it('waits for no request that its client cancelled', async () => {
    const { input, transport } = await open()
    const params = { requestId: 1 }
    input.write(`${JSON.stringify(ping)}\n`)
    input.end(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }))
    await transport.answered
  })
})
