import { describe, expect, it } from 'vitest'
import { compacted, said } from '../../../../../../test/support/logs.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { Message } from '../../message.ts'
import { piFormat } from './pi.ts'

describe('pi', () => {
  const entry = (id: string, parentId: string | null, message: JsonObject) => ({
    type: 'message',
    id,
    parentId,
    timestamp: `2026-01-01T00:00:0${id}Z`,
    message,
  })
  const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }], timestamp: 1 })
  const session = { type: 'session', version: 3, id: 's', timestamp: 't', cwd: '/a' }

  it('follows the last entry to the root', () => {
    const read = piFormat.parse([
      session,
      entry('1', null, user('ask')),
      entry('2', '1', user('abandoned')),
      {
        type: 'branch_summary',
        id: '3',
        parentId: '1',
        timestamp: 't',
        fromId: '2',
        summary: 'tried',
      },
      entry('4', '3', user('go on')),
    ])
    expect(said(read)).toEqual(['user: ask', 'user: tried', 'user: go on'])
    expect(piFormat.parse(piFormat.format(read)).messages).toEqual(read.messages)
  })

  it.each([
    ['by id', { firstKeptEntryId: '2' }],
    ['by line', { firstKeptEntryIndex: 2 }],
  ])('returns the summary, then the kept messages (%s), then the rest', (_, kept) => {
    const read = piFormat.parse([
      session,
      entry('1', null, user('gone')),
      entry('2', '1', user('kept')),
      { type: 'compaction', id: '3', parentId: '2', timestamp: 't', summary: 'so far', ...kept },
      entry('4', '3', user('next')),
    ])
    expect(said(read)).toEqual(['user: so far', 'user: kept', 'user: next'])
    expect(read.messages[0]).toMatchObject({ synthetic: true })
    const written = piFormat.format(read) as JsonObject[]
    expect(written.map(({ type }) => type)).toEqual(['session', 'compaction', 'message', 'message'])
    expect(piFormat.parse(written).messages).toEqual(read.messages)
  })

  it('reads replies, results and commands, and opens the seal of the right provider', () => {
    const read = piFormat.parse([
      session,
      entry('1', null, {
        role: 'assistant',
        api: 'anthropic-messages',
        model: 'm-1',
        content: [
          { type: 'thinking', thinking: 'hm', thinkingSignature: 'sig' },
          { type: 'toolCall', id: 'a', name: 'bash', arguments: { command: 'ls' } },
        ],
        usage: { input: 1, output: 2, cacheRead: 10, cacheWrite: 100 },
      }),
      entry('2', '1', {
        role: 'toolResult',
        toolCallId: 'a',
        toolName: 'bash',
        content: [{ type: 'image', data: 'AA', mimeType: 'image/png' }],
        isError: true,
        details: { x: 1 },
      }),
      entry('3', '2', { role: 'bashExecution', command: 'ls', output: 'a.ts', exitCode: 1 }),
      entry('4', '3', { role: 'bashExecution', command: 'secret', excludeFromContext: true }),
      entry('5', '4', { role: 'assistant', content: [], stopReason: 'aborted' }),
    ])
    expect(read.messages).toMatchObject([
      {
        role: 'assistant',
        parts: [{ sealed: { provider: 'anthropic', value: { signature: 'sig' } } }, { id: 'a' }],
        usage: { inputTokens: 111, outputTokens: 2 },
      },
      { role: 'tool', parts: [{ callId: 'a', isError: true, output: [{ type: 'image' }] }] },
      { role: 'user', synthetic: true, parts: [{ text: 'Ran ls\na.ts\n(exit code 1)' }] },
    ])
    expect(read.notes).toEqual(['Replies that hold nothing were left out: 1.'])
    const written = piFormat.format(read) as JsonObject[]
    expect(written[2]).toMatchObject({ message: { details: { x: 1 }, isError: true } })
    expect(piFormat.parse(written).messages).toEqual(read.messages)
  })

  it.each([
    ['anthropic-messages', 'anthropic'],
    ['openai-responses', 'openai'],
    ['google-generative-ai', 'google'],
    ['bedrock-converse-stream', 'other'],
  ])('assigns sealed reasoning under %s to %s', (api, provider) => {
    const content = [{ type: 'thinking', thinking: 'hm', thinkingSignature: 'sig' }]
    const read = piFormat.parse([session, entry('1', null, { role: 'assistant', api, content })])
    expect(read.messages).toMatchObject([{ parts: [{ sealed: { provider } }] }])
  })

  it('does not restore the removed part of a command’s output', () => {
    const command = { role: 'bashExecution', command: 'find', output: 'a.ts\n'.repeat(1_000) }
    const read = piFormat.parse([session, entry('1', null, command)])
    const short = { role: 'user', synthetic: true, parts: [{ type: 'text', text: 'Ran find' }] }
    const messages = read.messages.map((message) => ({ ...message, ...short }) as Message)
    const written = piFormat.format({ ...read, messages })
    expect(JSON.stringify(written)).not.toContain('a.ts')
    expect(piFormat.parse(written).messages).toMatchObject([short])
  })

  it('reads an older summary that is no longer first as a synthetic message', () => {
    const summary = { type: 'compaction', id: '1', parentId: null, summary: 'so far' }
    const read = piFormat.parse([session, summary, entry('2', '1', user('next'))])
    const again = piFormat.parse(piFormat.format(compacted(read, 2)))
    expect(said(again)).toEqual(['handoff: what happened', 'user: so far', 'user: next'])
    expect(again.messages[1]).toMatchObject({ synthetic: true })
  })

  it('gives an entry of another format the newest time before it', () => {
    const header = { ...session, timestamp: '2026-03-01T12:00:00.000Z' }
    const messages: Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'next' }] }]
    const [, written] = piFormat.format({
      ...{ format: 'pi', header: [header], messages, notes: [] },
    }) as JsonObject[]
    expect(written).toMatchObject({ type: 'message', timestamp: header.timestamp })
  })

  it('writes the usage of a reply that another program counted, with nothing from a cache', () => {
    const usage = { inputTokens: 11, outputTokens: 2 }
    const messages: Message[] = [
      { role: 'assistant', parts: [{ type: 'text', text: 'next' }], usage },
    ]
    const [, written] = piFormat.format({
      ...{ format: 'pi', header: [session], messages, notes: [] },
    }) as JsonObject[]
    expect(written?.['message']).toMatchObject({
      usage: { input: 11, output: 2, cacheRead: 0, cacheWrite: 0 },
      stopReason: 'stop',
    })
  })

  it('writes a handoff as a compaction of its own, in linear files too', () => {
    const linear = [
      { type: 'session', id: 's' },
      { type: 'message', message: user('next') },
    ]
    const written = piFormat.format(compacted(piFormat.parse(linear), 1)) as JsonObject[]
    expect(written[1]).toMatchObject({ type: 'compaction', firstKeptEntryIndex: 2 })
    expect(written[1]).not.toHaveProperty('parentId')
    expect(said(piFormat.parse(written))).toEqual(['handoff: what happened', 'user: next'])
  })
})
