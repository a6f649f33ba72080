import { describe, expect, it } from 'vitest'
import { hermesFormat } from './hermes.ts'

describe('hermes', () => {
  const meta = { role: 'session_meta', model: 'm-1', tools: [], timestamp: 't' }
  const parts = [
    { type: 'text', text: 'look' },
    { type: 'image_url', image_url: { url: 'https://x' } },
  ]
  const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }]
  const rows = [
    { role: 'user', content: `\u0000json:${JSON.stringify(parts)}`, timestamp: 0.5 },
    { role: 'assistant', content: null, tool_calls: JSON.stringify(calls), reasoning: 'hm' },
    { role: 'tool', tool_call_id: 'a', content: 'x', tool_name: 'f', active: 1 },
    { role: 'user', content: '[CONTEXT COMPACTION — REFERENCE ONLY] so far' },
  ]

  it('reads lists that were stored as text, and writes them as text', () => {
    const read = hermesFormat.parse([meta, ...rows])
    expect(read.messages).toMatchObject([
      { parts: [{ type: 'text' }, { type: 'image' }], at: '1970-01-01T00:00:00.500Z' },
      { parts: [{ type: 'reasoning' }, { type: 'tool-call', id: 'a' }] },
      { role: 'tool' },
      { synthetic: true },
    ])
    expect(read.model).toBe('m-1')
    expect(hermesFormat.format(read)).toEqual([meta, ...rows])
  })

  it('reads JSON of Python, and writes the same bytes', () => {
    const written = [
      [
        'user',
        '\0json:[{"type": "text", "text": "h\\u00e4h \\ud83d\\ude00"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]',
        null,
      ],
      ['user', '\0json:[{"type": "text", "text": "1.0", "score": 1.0, "gap": NaN}]', null],
      ['user', '\0json:[{"type": "input_image", "image_url": "https://x"}]', null],
      [
        'assistant',
        null,
        '[{"id": "fc_1", "call_id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}]',
      ],
      [
        'tool',
        '\0json:[{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]',
        null,
      ],
    ].map(([role = '', content = null, calls = null], at) => ({
      ...{ role, content, timestamp: 1_794_710_328.589_186 + at },
      ...(calls !== null && { tool_calls: calls }),
      ...(role === 'tool' && { tool_call_id: 'call_1' }),
    }))
    const read = hermesFormat.parse(written as never)
    expect(read.messages).toMatchObject([
      { parts: [{ text: 'häh 😀' }, { type: 'image' }] },
      { parts: [{ type: 'text', text: '1.0' }] },
      { parts: [{ type: 'image', source: { kind: 'url' } }] },
      { parts: [{ type: 'tool-call', id: 'call_1', input: { a: 1 } }] },
      { role: 'tool', parts: [{ callId: 'call_1', output: [{ type: 'image' }] }] },
    ])
    expect(hermesFormat.format(read)).toEqual(written)
  })

  it('remembers how a list was spelled instead of keeping its text twice', () => {
    const spaced = '[{"type": "text", "text": "look"}, {"type": "text", "text": "h\\u00e4h"}]'
    for (const list of [spaced, JSON.stringify(parts)]) {
      const row = { role: 'user', content: `\0json:${list}` }
      const read = hermesFormat.parse([row])
      expect(hermesFormat.format(read)).toEqual([row])
      expect(JSON.stringify(read)).not.toContain('as_written')
    }
  })

  it('leaves out rows that are no longer active, and says so', () => {
    const read = hermesFormat.parse([...rows, { role: 'user', content: 'gone', active: 0 }])
    expect(read.messages).toHaveLength(4)
    expect(read.notes).toEqual(['Rows that are no longer active were left out: 1.'])
  })
})
