import { describe, expect, it } from 'vitest'
import { compacted, said } from '../../../../../../test/support/logs.ts'
import type { JsonObject } from '../../../base/json.ts'
import { codexFormat } from './codex.ts'

describe('codex', () => {
  const item = (payload: JsonObject, timestamp = '2026-01-01T00:00:00Z') => ({
    timestamp,
    type: 'response_item',
    payload,
  })
  const message = (role: string, text: string): JsonObject => ({
    type: 'message',
    role,
    content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
  })
  const meta = {
    timestamp: 't',
    type: 'session_meta',
    payload: { id: 'x', instructions: 'be brief' },
  }

  it('reads a request as often for many compactions as for a few', () => {
    const readsOf = (count: number) => {
      let reads = 0
      const first = {
        type: 'message',
        content: [{ type: 'input_text', text: 'ask' }],
        get role() {
          reads += 1
          return 'user'
        },
      }
      const compactions = Array.from({ length: count }, (_, at) => ({
        ...{ timestamp: 't', type: 'compacted', payload: { message: `summary ${at}` } },
      }))
      const read = codexFormat.parse([meta, item(first), ...compactions])
      expect(read.messages).toHaveLength(count + 2)
      return reads
    }
    expect(readsOf(40)).toBe(readsOf(4))
  })

  it('reads instructions, items and the model, and leaves out events', () => {
    const read = codexFormat.parse([
      meta,
      item(message('user', '<environment_context>here</environment_context>')),
      item(message('user', 'ask')),
      { timestamp: 't', type: 'turn_context', payload: { model: 'gpt-x' } },
      { timestamp: 't', type: 'event_msg', payload: { type: 'agent_message', message: 'dup' } },
      item(message('assistant', 'answer')),
    ])
    expect(said(read)).toEqual([
      'system: be brief',
      'user: <environment_context>here</environment_context>',
      'user: ask',
      'assistant: answer',
    ])
    expect(read.model).toBe('gpt-x')
    expect(read.messages[1]).toMatchObject({ synthetic: true })
    expect(read.messages[2]).not.toHaveProperty('synthetic')
  })

  it('replaces earlier items by the newest compaction', () => {
    const compaction = (payload: JsonObject) => ({ timestamp: 't', type: 'compacted', payload })
    const read = codexFormat.parse([
      meta,
      item(message('user', 'first')),
      compaction({ message: 'old', replacement_history: [message('user', 'older')] }),
      compaction({
        message: '',
        replacement_history: [
          message('user', 'kept'),
          { type: 'compaction', encrypted_content: 'e' },
        ],
      }),
      item(message('user', 'next')),
    ])
    expect(said(read)).toEqual([
      'system: be brief',
      'user: kept',
      'assistant: [compaction]',
      'user: next',
    ])
    const written = codexFormat.format(read) as JsonObject[]
    expect(written.map((line) => line['type'])).toEqual([
      'session_meta',
      'compacted',
      'response_item',
    ])
    expect(codexFormat.parse(written).messages).toEqual(read.messages)
  })

  it('rebuilds the history of a compaction without one, and removes undone turns', () => {
    const read = codexFormat.parse([
      meta,
      item(message('user', 'ask')),
      item(message('assistant', 'answer')),
      { timestamp: 't', type: 'compacted', payload: { message: 'summary' } },
      item(message('user', 'undone')),
      item(message('assistant', 'undone too')),
      { timestamp: 't', type: 'event_msg', payload: { type: 'thread_rolled_back', num_turns: 1 } },
    ])
    expect(said(read)).toEqual(['system: be brief', 'user: ask', 'user: summary'])
  })

  it('keeps no reply in a rebuilt history behind requests of an earlier one that were undone', () => {
    const compaction = (text: string) => ({
      ...{ timestamp: 't', type: 'compacted', payload: { message: text } },
    })
    const undone = { type: 'thread_rolled_back', num_turns: 2 }
    const turn = (text: string) => [item(message('user', text)), item(message('assistant', text))]
    const read = codexFormat.parse([
      meta,
      ...[...turn('a'), ...turn('b'), ...turn('c')],
      compaction('Another language model started to solve this problem and wrote this.'),
      { timestamp: 't', type: 'event_msg', payload: undone },
      ...[...turn('d'), ...turn('e'), compaction('second')],
    ])
    expect(said(read).slice(1)).toEqual(['user: a', 'user: d', 'user: e', 'user: second'])
  })

  it('counts as a turn neither the notices of Codex nor an earlier summary', () => {
    const notices = [
      '<environment_context>here</environment_context>',
      '# AGENTS.md instructions for /home',
      'Another language model started to solve this problem and wrote this.',
    ].map((text) => item(message('user', text)))
    const undone = { type: 'thread_rolled_back', num_turns: 1 }
    const read = codexFormat.parse([
      meta,
      item(message('user', 'kept')),
      item(message('user', 'undone')),
      ...notices,
      { timestamp: 't', type: 'event_msg', payload: undone },
    ])
    expect(said(read)).toEqual(['system: be brief', 'user: kept'])
    const compaction = { timestamp: 't', type: 'compacted', payload: { message: 'summary' } }
    const rebuilt = codexFormat.parse([meta, ...notices, item(message('user', 'kept')), compaction])
    expect(said(rebuilt)).toEqual(['system: be brief', 'user: kept', 'user: summary'])
  })

  it('reads and writes the old form, in which lines are bare items', () => {
    const header = { id: 'x', timestamp: 't', instructions: 'be brief' }
    const items = [
      message('user', 'ask'),
      { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'hm' }] },
      { type: 'function_call', id: 'f', name: 'shell', arguments: '{"a": 1}', call_id: 'c' },
      { type: 'function_call_output', call_id: 'c', output: '{"output":"x"}' },
    ]
    const read = codexFormat.parse([header, { record_type: 'state' }, ...items])
    expect(read.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
    expect(codexFormat.format(read)).toEqual([header, ...items])
  })

  it('writes a handoff as a compaction of its own', () => {
    const read = codexFormat.parse([
      meta,
      item(message('user', 'ask')),
      item(message('user', 'next')),
    ])
    const written = codexFormat.format(compacted(read, 1)) as JsonObject[]
    expect(written[1]).toMatchObject({ type: 'compacted', payload: { message: 'what happened' } })
    expect(said(codexFormat.parse(written))).toEqual([
      'system: be brief',
      'handoff: what happened',
      'user: next',
    ])
  })
})
