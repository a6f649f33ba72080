import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SessionId } from '#core/base/ids'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import { type ReadEvent, readEvents } from '../../../../../test/support/read-events.ts'
import { EventStreams, frameEvent } from './event-stream.ts'

const sessionId = 's' as SessionId
const delta = (text: string): RuntimeEvent => ({
  ...{ type: 'live', kind: 'delta', sessionId, turn: 1, step: 1, attempt: 'a' },
  text,
})

async function read(bytes: Uint8Array, cuts: readonly number[]) {
  const cutsAt = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length]
  const sorted = cutsAt.toSorted((a, b) => a - b)
  async function* chunks() {
    for (const [index, end] of sorted.slice(1).entries()) yield bytes.slice(sorted[index], end)
  }
  const events: ReadEvent[] = []
  for await (const event of readEvents(chunks())) events.push(event)
  return events
}

describe('readEvents', () => {
  it('reads the output of frameEvent for any text, cut anywhere', async () => {
    // Text that could be mistaken for event-stream syntax.
    const odd = fc.constantFrom('a', '\n', '\n\n', '\r', 'data: ', 'id: 1\n', '\u2028', '\0', '🧵')
    const texts = fc.array(fc.array(odd).map((parts) => parts.join('')))
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat()), async (said, cuts) => {
        const frames = said.map((text) => `: \n\n${frameEvent(delta(text))}`).join('')
        const events = await read(Buffer.from(`retry: 2000\n\n${frames}`), cuts)
        expect(events.map(({ data }) => (data as { text: string }).text)).toEqual(said)
        expect(events.every(({ id, type }) => id === null && type === 'live')).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  it('uses the cursor of a stored event as its id', async () => {
    const stored: RuntimeEvent = {
      ...{ type: 'stored', cursor: 7, at: 1, sessionId, kind: 'turn ended' },
      ...{ operationId: null, facts: {} },
    }
    const [event] = await read(Buffer.from(frameEvent(stored)), [])
    expect(event).toMatchObject({ id: '7', type: 'stored', data: { cursor: 7 } })
  })
})

describe('EventStreams', () => {
  it('ends the stream of a caller who has lost access, even if no event occurs', async () => {
    const streams = new EventStreams({ heartbeatMs: 5, stallMs: 10_000 })
    let isAllowed = true
    async function* silence(outgoing: ServerResponse) {
      yield delta('x')
      await once(outgoing, 'close')
    }
    const server = createServer(
      (_, outgoing) => void streams.send(outgoing, silence(outgoing), async () => isAllowed),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    let beats = 0
    const read = async () => {
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        beats += Buffer.from(chunk).toString().split(': \n\n').length - 1
        if (beats >= 3) isAllowed = false
      }
    }
    await expect(read()).rejects.toThrow()
    expect([beats >= 3, streams.size]).toEqual([true, 0])
    streams.close()
    server.close()
  })

  it('ends the stream of a client that reads nothing, and stops producing events for it', async () => {
    const streams = new EventStreams({ heartbeatMs: 10_000, stallMs: 100 })
    let isOver = false
    async function* endless() {
      try {
        for (;;) yield delta('x'.repeat(100_000))
      } finally {
        isOver = true
      }
    }
    const server = createServer(
      (_, outgoing) => void streams.send(outgoing, endless(), async () => true),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    socket.pause()
    for (let round = 0; round < 500 && !isOver; round++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect([isOver, streams.size]).toEqual([true, 0])
    socket.destroy()
    streams.close()
    server.close()
  })
})
