import { describe, expect, it } from 'vitest'
import { compacted, handoff, said } from '../../../../../../test/support/logs.ts'
import type { JsonObject, JsonValue } from '../../../base/json.ts'
import { writeEnvelope } from '../../handoff/envelope.ts'
import type { Message } from '../../message.ts'
import { claudeCodeFormat } from './claude-code.ts'

describe('claude-code', () => {
  const line = (type: string, uuid: string, parentUuid: string | null, more: JsonObject) => ({
    type,
    uuid,
    parentUuid,
    ...more,
  })
  const user = (uuid: string, parent: string | null, content: JsonValue, more: JsonObject = {}) =>
    line('user', uuid, parent, { message: { role: 'user', content }, ...more })
  const reply = (uuid: string, parent: string, id: string, block: JsonObject, usage?: JsonObject) =>
    line('assistant', uuid, parent, {
      message: { id, role: 'assistant', content: [block], ...(usage && { usage, model: 'm-1' }) },
    })
  const text = (value: string) => ({ type: 'text', text: value })
  const call = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: {} })
  const result = (id: string) => [{ type: 'tool_result', tool_use_id: id, content: `out ${id}` }]

  it('follows the branch of the newest line and leaves out side chains and notices', () => {
    const lines = [
      user('1', null, 'ask'),
      reply('2', '1', 'm1', text('old answer')),
      user('3', '2', 'abandoned'),
      user('4', '1', 'asked again'),
      line('system', '5', '4', { subtype: 'turn_duration' }),
      reply('6', '5', 'm2', text('new answer')),
      { type: 'summary', summary: 'a title', leafUuid: '6' },
      user('s', '6', 'sub-agent', { isSidechain: true }),
    ]
    expect(said(claudeCodeFormat.parse(lines))).toEqual([
      'user: ask',
      'user: asked again',
      'assistant: new answer',
    ])
  })

  it('has a message that the person wrote during a turn, once', () => {
    const queued = (uuid: string, parent: string, more: JsonObject) =>
      line('attachment', uuid, parent, {
        attachment: { type: 'queued_command', commandMode: 'prompt', ...more },
      })
    const lines = [
      user('1', null, 'ask'),
      reply('2', '1', 'm1', call('a')),
      user('3', '2', result('a')),
      queued('4', '3', { prompt: 'and the boats', origin: { kind: 'human' } }),
      queued('5', '4', { prompt: [text('on Friday')] }),
      queued('6', '5', { prompt: 'done', commandMode: 'task-notification' }),
      queued('7', '6', { prompt: 'from another session', origin: { kind: 'peer' } }),
      line('attachment', '8', '7', { attachment: { type: 'date', date: '2026-11-16' } }),
      reply('9', '8', 'm2', text('answer')),
      queued('10', '9', { prompt: 'later', source_uuid: '11' }),
      user('11', '10', 'later'),
    ]
    const { messages } = claudeCodeFormat.parse(lines)
    const words = messages.flatMap((message) =>
      message.role !== 'user' ? [] : [[message.synthetic === true, ...message.parts]],
    )
    expect(words).toMatchObject([
      [false, text('ask')],
      ...[
        [false, text('and the boats')],
        [false, text('on Friday')],
      ],
      ...[
        [true, text('done')],
        [true, text('from another session')],
      ],
      [false, text('later')],
    ])
  })

  it('uses the previous line if the parent is missing', () => {
    const lines = [user('1', null, 'ask'), reply('2', 'lost', 'm1', text('answer'))]
    expect(said(claudeCodeFormat.parse(lines))).toEqual(['user: ask', 'assistant: answer'])
  })

  it('starts at the newest compaction', () => {
    const lines = [
      user('1', null, 'before'),
      line('system', '2', null, { subtype: 'compact_boundary', logicalParentUuid: '1' }),
      user('3', '2', 'This session is being continued', { isCompactSummary: true }),
      user('4', '3', 'reminder', { isMeta: true }),
      user('5', '4', 'go on'),
    ]
    const { messages } = claudeCodeFormat.parse(lines)
    expect(messages.map((message) => message.role === 'user' && message.synthetic)).toEqual([
      true,
      true,
      undefined,
    ])
  })

  it('joins the lines of one reply and brings back the results of parallel calls', () => {
    const usage = {
      input_tokens: 3,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 100,
      output_tokens: 7,
    }
    const lines = [
      user('1', null, 'ask'),
      reply('2', '1', 'm1', { type: 'thinking', thinking: 'hm', signature: 's' }),
      reply('3', '2', 'm1', call('a')),
      user('4', '3', result('a')),
      reply('5', '3', 'm1', call('b'), usage),
      user('6', '5', result('b')),
      reply('7', '6', 'm2', text('done')),
    ]
    const { messages, model } = claudeCodeFormat.parse(lines)
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
    ])
    const assistant = messages[1]
    expect(assistant?.role === 'assistant' && assistant.parts.map(({ type }) => type)).toEqual([
      'reasoning',
      'tool-call',
      'tool-call',
    ])
    expect(assistant).toMatchObject({ usage: { inputTokens: 123, outputTokens: 7 }, model: 'm-1' })
    expect(model).toBe('m-1')
    const again = claudeCodeFormat.parse(
      claudeCodeFormat.format({ ...claudeCodeFormat.parse(lines) }),
    )
    expect(again.messages).toEqual(messages)
  })

  it('keeps unknown fields of lines, messages and blocks, and links the lines again', () => {
    const lines = [
      user('1', 'gone', 'ask', { cwd: '/a', thinkingMetadata: { level: 'high' } }),
      reply('2', '1', 'm1', { ...text('x'), citations: [] }, { input_tokens: 1 }),
    ]
    const written = claudeCodeFormat.format(claudeCodeFormat.parse(lines)) as JsonObject[]
    expect(written[0]).toMatchObject({ cwd: '/a', thinkingMetadata: { level: 'high' } })
    expect(written.map((each) => [each['uuid'], each['parentUuid']])).toEqual([
      ['1', null],
      ['2', '1'],
    ])
    expect(written[1]).toMatchObject({ message: { id: 'm1', content: [{ citations: [] }] } })
  })

  it('marks a handoff as the program marks its own summaries', () => {
    const lines = [user('1', null, 'ask'), reply('2', '1', 'm', text('ok')), user('3', '2', 'next')]
    const result = compacted(claudeCodeFormat.parse(lines), 1)
    const written = claudeCodeFormat.format(result) as JsonObject[]
    expect(written.map((each) => each['isCompactSummary'])).toEqual([true, undefined])
    expect(said(claudeCodeFormat.parse(written))).toEqual(['handoff: what happened', 'user: next'])
  })

  it('marks a handoff that was written out for a provider, too', () => {
    const messages = [{ ...writeEnvelope(handoff) }]
    const [line] = claudeCodeFormat.format({
      format: 'claude-code',
      messages,
      notes: [],
    }) as JsonObject[]
    expect(line).toMatchObject({ isCompactSummary: true })
  })

  it('removes the mark from an older summary that is no longer first', () => {
    const lines = [user('1', null, 'so far', { isCompactSummary: true }), user('2', '1', 'next')]
    const written = claudeCodeFormat.format(compacted(claudeCodeFormat.parse(lines), 2))
    const again = claudeCodeFormat.parse(written)
    expect(said(again)).toEqual(['handoff: what happened', 'user: so far', 'user: next'])
    expect(again.messages[1]).toMatchObject({ synthetic: true })
  })

  it('omits the mark where it would hide earlier messages', () => {
    const messages: Message[] = [
      { role: 'user', parts: [{ type: 'text', text: 'first' }] },
      { role: 'handoff', handoff },
    ]
    const written = claudeCodeFormat.format({ format: 'claude-code', messages, notes: [] })
    expect(said(claudeCodeFormat.parse(written))).toEqual(['user: first', 'handoff: what happened'])
  })
})
