import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '#core/base/json'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import { EventReader } from './event-reader.ts'

const EVENTS: readonly JsonValue[] = [
  { type: 'text', text: 'Grüße – 🐚' },
  { type: 'text', text: 'data: {"not":"an event"}\n\n' },
  [1, null, { deep: [''] }],
]

function read(chunks: readonly Uint8Array[]) {
  const events: JsonValue[] = []
  const reader = new EventReader((event) => events.push(event))
  const says = chunks.map((chunk) => reader.read(chunk))
  return { events, says, reader }
}

const bytes = (text: string) => new TextEncoder().encode(text)

describe('EventReader', () => {
  it('reads the same events wherever the bytes are cut and however lines end', () => {
    const end = fc.constantFrom('\n', '\r\n', '\r')
    const cuts = fc.array(fc.nat(400), { maxLength: 12 })
    fc.assert(
      fc.property(end, cuts, (newline, at) => {
        const lines = EVENTS.flatMap((event) => [
          ': a comment',
          'event: some',
          `data: ${JSON.stringify(event)}`,
          'id: 7',
          '',
        ])
        const whole = bytes(`\uFEFF${[...lines, 'data: [DONE]', '', ''].join(newline)}`)
        const positions = [0, ...at.toSorted((a, b) => a - b), whole.length]
        const chunks = positions
          .slice(1)
          .map((place, index) => whole.subarray(positions[index], place))
        expect(read(chunks).events).toEqual(EVENTS)
      }),
    )
  })

  it.each<[string, readonly string[], readonly JsonValue[]]>([
    ['a return, then its newline', ['data: 1\r', '\n\r\ndata: 2\r\n\r\n'], [1, 2]],
    ['a return, then another line', ['data: [1,\r', 'data: 2]\r\r'], [1, 2]],
    ['a return, then nothing, then its newline', ['data: 1\r', '', '\n\n'], [1]],
    ['a return, whose newline comes with the next line', ['data: [1,\r', '\ndata: 2]\n\n'], [1, 2]],
    ['a return, then two newlines', ['data: 1\r', '\n\n'], [1]],
    ['two events by returns', ['data: 1\r\rdata: 2\r', '\r'], [1, 2]],
    ['an event that ends in a return, and the next', ['data: 1\n\r', '\ndata: 2\n\n'], [1, 2]],
  ])('reads lines that end in %s', (_, pieces, events) => {
    expect(read(pieces.map(bytes)).events.flat()).toEqual(events)
  })

  it('joins the lines of one event, and ignores an incomplete event', () => {
    expect(read([bytes('data: {"a":\ndata: 1}\n\ndata: {"b":2}\n')]).events).toEqual([{ a: 1 }])
  })

  it('skips events that are not JSON and continues', () => {
    expect(read([bytes('data: {"a":\n\ndata:{"b":2}\n\ndata\n\n')]).events).toEqual([{ b: 2 }])
  })

  it('treats comments and pings as keep-alives and everything else as content', () => {
    const { says } = read(
      [
        ': ping\n\n',
        'event: ping\ndata: {"type":"ping"}\n\n',
        'data: {"a":1}\n\n',
        'data: {"b":',
        '1}\n\n',
        ': long ',
        'comment\n\n',
      ].map(bytes),
    )
    expect(says).toEqual([false, false, true, true, true, false, false])
  })

  it('rejects an event that never ends or is nested too deep', () => {
    const chunk = bytes('x'.repeat(1024 * 1024))
    const long = read([bytes('data: '), ...new Array<Uint8Array>(31).fill(chunk)])
    expect(long.reader.isTooLarge).toBe(false)
    long.reader.read(chunk)
    expect(long.reader.isTooLarge).toBe(true)
    const deep = read([bytes(`data: ${'['.repeat(2_000)}${']'.repeat(2_000)}\n\n`)])
    expect(deep.events).toEqual([])
    expect(deep.reader.isTooLarge).toBe(true)
  })

  it('reads a line of any length in linear time', () => {
    const chunk = bytes('x'.repeat(64 * 1024))
    const prepare = (chunks: number) => () => {
      const { reader, events } = read([
        bytes('data: "'),
        ...new Array<Uint8Array>(chunks).fill(chunk),
        bytes('"\n\n'),
      ])
      expect(reader.isTooLarge).toBe(false)
      expect(events).toHaveLength(1)
    }
    expect(costOfTenfold(prepare, { size: 32, floorMs: 0 })).toBeLessThan(30)
  })
})
