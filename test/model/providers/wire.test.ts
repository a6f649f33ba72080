import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isObject, type JsonObject } from '../../../packages/core/src/base/json.ts'
import type { Message } from '../../../packages/core/src/message/message.ts'
import type { ModelRequest } from '../../../packages/server/src/model/model.ts'
import type { ModelRoute } from '../../../packages/server/src/model/routes/route.ts'
import { event, hear, openBench, openCanned, user, within } from '../bench.ts'

/** What goes over the wire, byte for byte, and what of it comes back. */
let bench: Awaited<ReturnType<typeof openBench>>
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

const request: ModelRequest = {
  messages: [user('And now?')],
  tools: [
    {
      name: 'read',
      description: 'Reads a file.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  ],
  outputTokensMax: 1_000,
  effort: 'low',
  cacheKey: 'session-1',
}

describe('the request', () => {
  it('asks for the effort that its route says, unless it says another', async () => {
    const model = bench.modelOf('openai-chat', { effort: 'high' })
    const bodyOf = async (rest: Partial<ModelRequest>) => {
      await hear(model.stream({ messages: [user('hello')], ...rest }, within()))
      return bench.server.journal.last?.body
    }
    expect(await bodyOf({})).toMatchObject({ reasoning_effort: 'high' })
    expect(await bodyOf({ effort: 'low' })).toMatchObject({ reasoning_effort: 'low' })
  })

  it('asks for no longer an answer than the model gives', async () => {
    const limitOf = async (route: Partial<ModelRoute>, outputTokensMax: number) => {
      const model = bench.modelOf('openai-compatible', route)
      await hear(model.stream({ messages: [user('hello')], outputTokensMax }, within()))
      const { body } = bench.server.journal.last ?? {}
      return isObject(body) ? body['max_tokens'] : undefined
    }
    expect(await limitOf({ outputTokensMax: 300 }, 1_000)).toBe(300)
    expect(await limitOf({ outputTokensMax: 300 }, 200)).toBe(200)
    expect(await limitOf({ model: 'gpt-4-turbo' }, 8_000)).toBe(4_096)
    expect(await limitOf({}, 8_000)).toBe(8_000)
  })

  it('of Google gets an answer that is read', async () => {
    const answer = (parts: readonly JsonObject[], rest: JsonObject = {}) =>
      event({ candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }] })
    const google = await openCanned(() => [
      answer([{ text: 'Hel' }]),
      answer([{ text: 'lo.' }, { functionCall: { name: 'read', args: { path: 'b' } } }]),
      event({
        candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3, totalTokenCount: 15 },
      }),
    ])
    const model = bench.modelOf('google', { baseUrl: `${google.url}/v1` })
    const { end } = await hear(model.stream(request, within()))
    expect(end).toMatchObject({
      outcome: { kind: 'finished', finish: 'tool-calls' },
      usage: { inputTokens: 12, outputTokens: 3 },
      contextTokens: 12,
      reply: {
        parts: [
          { type: 'text', text: 'Hello.' },
          { type: 'tool-call', name: 'read' },
        ],
      },
    })
    await google.close()
  })

  it('fetches no address that a message names', async () => {
    const trap = await openCanned(() => [])
    const image = { type: 'image', source: { kind: 'url', url: `${trap.url}/a.png` } } as const
    for (const provider of ['openai-chat', 'anthropic', 'openai-compatible'] as const) {
      const messages: Message[] = [{ role: 'user', parts: [image, { type: 'text', text: 'See?' }] }]
      const { end } = await hear(bench.modelOf(provider).stream({ messages }, within()))
      expect(end.outcome.kind).toBe('finished')
    }
    expect(trap.bodies).toEqual([])
    await trap.close()
  })

  it('never names a secret but in its header', async () => {
    await hear(bench.modelOf('anthropic').stream(request, within()))
    const last = bench.server.journal.last
    expect(last?.headers['x-api-key']).toBe('sk-test')
    expect(last?.bodyText).not.toContain('sk-test')
  })
})

describe('items of the provider', () => {
  const items = [
    { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAA+/=' },
    { type: 'compaction', encrypted_content: 'no id', extra: { b: 1, a: [2.5, null] } },
    { id: 'x_1', type: 'item_of_next_year', z: 1, a: 'ü\u2028' },
  ] as const
  const message = {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Done.', annotations: [], logprobs: [] }],
  }
  const response = { id: 'resp_1', created_at: 1, model: 'm', object: 'response' }
  const usage = {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 1 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 1 },
  }

  it('of Responses go back byte for byte, in order, the unknown ones too', async () => {
    const output = [...items, message]
    const server = await openCanned(() => [
      event({ type: 'response.created', response }),
      ...output.flatMap((item, output_index) => [
        event({ type: 'response.output_item.added', output_index, item }),
        event({ type: 'response.output_item.done', output_index, item }),
      ]),
      event({
        type: 'response.completed',
        response: { ...response, status: 'completed', output, usage },
      }),
    ])
    const model = bench.modelOf('openai-responses', { baseUrl: server.url })
    const first = await hear(model.stream({ messages: [user('a')] }, within()))
    expect(first.end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
    expect(first.pieces.flatMap((piece) => (piece.kind === 'item' ? [piece.value] : []))).toEqual([
      items[1],
      items[2],
    ])
    const { reply } = first.end
    if (reply === null) throw new Error('nothing was said')
    // As from a store: through JSON and back.
    const stored = JSON.parse(JSON.stringify(reply)) as Message
    await hear(model.stream({ messages: [user('a'), stored, user('b')] }, within()))
    expect(server.bodies[1]).toContain(items.map((item) => JSON.stringify(item)).join(','))
    // Another provider gets none of them.
    const other = bench.modelOf('anthropic')
    await hear(other.stream({ messages: [user('a'), stored, user('b')] }, within()))
    expect(bench.server.journal.last?.bodyText).not.toContain('encrypted_content')
    expect(bench.server.journal.last?.bodyText).toContain('Done.')
    await server.close()
  })

  it('of Anthropic are sent back byte for byte, and a compaction is not shown as text', async () => {
    const blocks = [
      {
        type: 'compaction',
        content: 'The story so far.',
        signature: 's1',
        encrypted_content: 'e1',
        tool_changes: [],
      },
      { type: 'thinking', thinking: 'Hm.', signature: 'EvUB+/=' },
      { type: 'block_of_next_year', payload: { b: 1, a: null } },
      { type: 'text', text: 'Done.' },
    ] as const
    const startOf = (block: (typeof blocks)[number]) => {
      if (block.type === 'compaction') return { ...block, content: '' }
      if (block.type === 'thinking') return { ...block, thinking: '', signature: '' }
      return block.type === 'text' ? { ...block, text: '' } : block
    }
    const deltasOf = (block: (typeof blocks)[number]): readonly object[] => {
      if (block.type === 'compaction') return [{ type: 'compaction_delta', content: block.content }]
      if (block.type === 'text') return [{ type: 'text_delta', text: block.text }]
      if (block.type !== 'thinking') return []
      return [
        { type: 'thinking_delta', thinking: block.thinking },
        { type: 'signature_delta', signature: block.signature },
      ]
    }
    const iterations = [
      { type: 'compaction', input_tokens: 60_000, output_tokens: 300 },
      { type: 'message', input_tokens: 600, output_tokens: 10 },
    ]
    const named = (data: { readonly type: string }) => event(data, data.type)
    const server = await openCanned(() => [
      named({
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          usage: { input_tokens: 600, output_tokens: 1 },
        },
      } as { type: string }),
      ...blocks.flatMap((block, index) => [
        named({ type: 'content_block_start', index, content_block: startOf(block) } as {
          type: string
        }),
        ...deltasOf(block).map((delta) =>
          named({ type: 'content_block_delta', index, delta } as { type: string }),
        ),
        named({ type: 'content_block_stop', index } as { type: string }),
      ]),
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { input_tokens: 600, output_tokens: 10, iterations },
      } as { type: string }),
      named({ type: 'message_stop' }),
    ])
    const model = bench.modelOf('anthropic', { baseUrl: server.url })
    const first = await hear(model.stream({ messages: [user('a')] }, within()))
    expect(first.end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
    expect(first.text).toBe('Done.')
    expect(first.end).toMatchObject({ usage: { inputTokens: 60_600 }, contextTokens: 600 })
    const { reply } = first.end
    if (reply === null) throw new Error('nothing was said')
    const stored = JSON.parse(JSON.stringify(reply)) as Message
    await hear(model.stream({ messages: [user('a'), stored, user('b')] }, within()))
    expect(server.bodies[1]).toContain(
      `[${blocks.map((block) => JSON.stringify(block)).join(',')}]`,
    )
    await server.close()
  })

  it('are announced by a beta header if the provider requires it', async () => {
    const compaction = (value: JsonObject): Message => ({
      role: 'assistant',
      parts: [{ type: 'opaque', provider: 'anthropic', value: { type: 'compaction', ...value } }],
    })
    const model = bench.modelOf('anthropic')
    for (const [value, beta] of [
      [{ content: 'a' }, 'compact-2026-01-12'],
      [{ content: 'a', signature: 's' }, 'compact-2026-09-04'],
    ] as const) {
      const messages = [user('a'), compaction(value), user('b')]
      const { end } = await hear(model.stream({ messages }, within()))
      expect(end.outcome.kind).toBe('finished')
      expect(bench.server.journal.last?.headers['anthropic-beta']).toContain(beta)
    }
    await hear(model.stream({ messages: [user('a')] }, within()))
    expect(bench.server.journal.last?.headers['anthropic-beta']).toBeUndefined()
  })

  it('however deep they are, end the call in an outcome', async () => {
    const depth = 20_000
    const item = `{"type":"x","id":"x1","deep":${'['.repeat(depth)}${']'.repeat(depth)}}`
    const completed = { type: 'response.completed', response: { ...response, usage } }
    const server = await openCanned(() => [
      event({ type: 'response.created', response }),
      `data: {"type":"response.output_item.done","output_index":0,"item":${item}}\n\n`,
      event(completed),
    ])
    const model = bench.modelOf('openai-responses', { baseUrl: server.url })
    const { end } = await hear(model.stream({ messages: [user('a')] }, within()))
    expect(['finished', 'malformed']).toContain(end.outcome.kind)
    if (end.reply !== null) {
      const messages = [user('a'), end.reply, user('b')]
      const next = await hear(model.stream({ messages }, within()))
      expect(['finished', 'malformed']).toContain(next.end.outcome.kind)
    }
    await server.close()
  })

  it('sealed by the stand-in pass its check when sent back, step after step', async () => {
    for (const provider of ['openai-responses', 'codex', 'anthropic'] as const) {
      const model = bench.modelOf(provider)
      let messages: readonly Message[] = [
        user('think it over\nuse read {"path":"a.txt"}\nthen\nsay Done.'),
      ]
      for (const expected of ['tool-calls', 'stop']) {
        const rest = { tools: request.tools ?? [], effort: 'low' as const }
        const { end, pieces } = await hear(model.stream({ messages, ...rest }, within()))
        expect(end.outcome).toEqual({ kind: 'finished', finish: expected })
        const results = pieces.flatMap((piece) =>
          piece.kind === 'call'
            ? [
                {
                  type: 'tool-result',
                  callId: piece.id,
                  output: [{ type: 'text', text: 'ok' }],
                } as const,
              ]
            : [],
        )
        if (end.reply === null) throw new Error('nothing was said')
        messages = [...messages, end.reply]
        if (results.length > 0) messages = [...messages, { role: 'tool', parts: results }]
      }
    }
  })
})
