import { describe, expect, it } from 'vitest'
import { hermes } from './hermes.ts'

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

  it('reads lists that were kept as text, and writes them so again', () => {
    const read = hermes.parse([meta, ...rows])
    expect(read.messages).toMatchObject([
      { parts: [{ type: 'text' }, { type: 'image' }], at: '1970-01-01T00:00:00.500Z' },
      { parts: [{ type: 'reasoning' }, { type: 'tool-call', id: 'a' }] },
      { role: 'tool' },
      { synthetic: true },
    ])
    expect(read.model).toBe('m-1')
    expect(hermes.format(read)).toEqual([meta, ...rows])
  })

  it('leaves out rows that are no longer active, and says so', () => {
    const read = hermes.parse([...rows, { role: 'user', content: 'gone', active: 0 }])
    expect(read.messages).toHaveLength(4)
    expect(read.notes).toEqual(['Rows that are no longer active were left out: 1.'])
  })
})
