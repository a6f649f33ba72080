import { describe, expect, it } from 'vitest'
import { appendInput, MCP_LINE_BYTES_MAX } from './answers.ts'
import { BoundedLines, requestId } from './stdio-transport.ts'

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

  it('have room for all that the schema of an append allows', () => {
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
