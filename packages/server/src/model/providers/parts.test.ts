import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { PackageStream } from './parts.ts'
import type { ProviderPart } from './provider.ts'

/** The result of a stream of these parts; an error at its end breaks it. */
async function told(
  parts: readonly LanguageModelV4StreamPart[],
  error?: unknown,
): Promise<readonly ProviderPart[]> {
  const taken: ProviderPart[] = []
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    pull(controller) {
      for (const part of parts) controller.enqueue(part)
      if (error === undefined) controller.close()
      else controller.error(error)
    },
  })
  await new PackageStream(stream).run((part) => void taken.push(part))
  return taken
}

const UNUSED: LanguageModelV4Usage = {
  inputTokens: {
    ...{ total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}

function usage(
  input: Partial<LanguageModelV4Usage['inputTokens']>,
  output: Partial<LanguageModelV4Usage['outputTokens']> = {},
  raw?: LanguageModelV4Usage['raw'],
): LanguageModelV4Usage {
  return {
    inputTokens: { ...UNUSED.inputTokens, ...input },
    outputTokens: { ...UNUSED.outputTokens, ...output },
    ...(raw !== undefined && { raw }),
  }
}

const finish = (
  used: LanguageModelV4Usage,
  finishReason: Extract<LanguageModelV4StreamPart, { type: 'finish' }>['finishReason'] = {
    ...{ unified: 'stop', raw: 'end_turn' },
  },
): LanguageModelV4StreamPart => ({ type: 'finish', usage: used, finishReason })

describe('the stream of a provider package', () => {
  it('passes on events, text and reasoning in order, and no empty reasoning', async () => {
    expect(
      await told([
        { type: 'raw', rawValue: { type: 'ping' } },
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: 'Yes.' },
        { type: 'text-end', id: 't' },
        { type: 'reasoning-delta', id: 'r', delta: '' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hmm.' },
      ]),
    ).toEqual([
      { kind: 'event', event: { type: 'ping' } },
      { kind: 'text', text: 'Yes.' },
      { kind: 'reasoning', text: 'Hmm.' },
    ])
  })

  it("hides the text of the provider's own compaction, until its id is used again", async () => {
    const providerMetadata = { anthropic: { type: 'compaction' } }
    expect(
      await told([
        { type: 'text-start', id: '0', providerMetadata },
        { type: 'text-delta', id: '0', delta: 'A summary.' },
        { type: 'text-start', id: '1', providerMetadata: { anthropic: { type: 'text' } } },
        { type: 'text-delta', id: '1', delta: 'Yes.' },
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'No.' },
      ]),
    ).toEqual([
      { kind: 'text', text: 'Yes.' },
      { kind: 'text', text: 'No.' },
    ])
  })

  it('notes warnings by their kind, and by their subject if that is a single word', async () => {
    const warnings = [
      { type: 'unsupported', feature: 'topK' },
      { type: 'unsupported', feature: 'said: hello' },
      { type: 'other', message: 'said: hello' },
    ] as const
    expect(await told([{ type: 'stream-start', warnings: [...warnings] }])).toEqual([
      { kind: 'note', code: 'package-warning:unsupported:topK' },
      { kind: 'note', code: 'package-warning:unsupported' },
      { kind: 'note', code: 'package-warning:other' },
    ])
  })

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content-filter', 'content-filter'],
    ['tool-calls', 'tool-calls'],
    ['other', 'other'],
    ['error', 'broken'],
  ] as const)('ends by %s as %s', async (unified, finished) => {
    const parts = await told([finish(UNUSED, { unified, raw: 'raw' })])
    expect(parts).toEqual([{ kind: 'finish', finish: finished, raw: 'raw' }])
    const bare = await told([finish(UNUSED, { unified, raw: undefined })])
    expect(bare).toEqual([{ kind: 'finish', finish: finished }])
  })

  it.each<[LanguageModelV4Usage, object]>([
    [
      usage({ total: 9 }, { total: 4 }),
      { usage: { inputTokens: 9, outputTokens: 4 }, contextTokens: 9 },
    ],
    [usage({ total: 9 }), { usage: { inputTokens: 9, outputTokens: 0 }, contextTokens: 9 }],
    [usage({}, { total: 4 }), { usage: { inputTokens: 0, outputTokens: 4 }, contextTokens: 0 }],
    [
      usage({ total: 9, cacheRead: 3, cacheWrite: 2 }, { total: 4, reasoning: 1 }),
      {
        usage: {
          ...{ inputTokens: 9, outputTokens: 4, cacheReadTokens: 3, cacheWriteTokens: 2 },
          reasoningTokens: 1,
        },
        contextTokens: 9,
      },
    ],
    [
      usage({ total: 9, cacheRead: 0, cacheWrite: 0 }, { total: 4, reasoning: 0 }),
      {
        usage: {
          ...{ inputTokens: 9, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 },
          reasoningTokens: 0,
        },
        contextTokens: 9,
      },
    ],
    ...([0.0012345, 0] as const).map((cost): [LanguageModelV4Usage, object] => [
      usage({ total: 9 }, {}, { cost }),
      {
        usage: { inputTokens: 9, outputTokens: 0, cost: Math.round(cost * 1e6) },
        contextTokens: 9,
      },
    ]),
    ...([-1, 'much', null] as const).map((cost): [LanguageModelV4Usage, object] => [
      usage({ total: 9 }, {}, { cost }),
      { usage: { inputTokens: 9, outputTokens: 0 }, contextTokens: 9 },
    ]),
    [
      usage(
        { total: 90 },
        {},
        {
          iterations: [
            { input_tokens: 70 },
            { input_tokens: 5, cache_read_input_tokens: 6, cache_creation_input_tokens: 7 },
          ],
        },
      ),
      { usage: { inputTokens: 90, outputTokens: 0 }, contextTokens: 18 },
    ],
    [
      usage({ total: 90 }, {}, { iterations: [{ input_tokens: 'many', other: 3 }] }),
      { usage: { inputTokens: 90, outputTokens: 0 }, contextTokens: 0 },
    ],
    [
      usage({ total: 90 }, {}, { iterations: [] }),
      { usage: { inputTokens: 90, outputTokens: 0 }, contextTokens: 90 },
    ],
  ])('reports %j', async (used, reported) => {
    expect(await told([finish(used)])).toEqual([
      { kind: 'finish', finish: 'stop', raw: 'end_turn', ...reported },
    ])
  })

  const failure = (name: string, facts: object = {}) =>
    Object.assign(new Error('said: hello'), { name, ...facts })

  it.each<[string, unknown, ProviderPart | undefined]>([
    ['broken JSON', failure('AI_JSONParseError'), { kind: 'unparsable' }],
    [
      'an event of no known kind',
      failure('AI_TypeValidationError'),
      { kind: 'note', code: 'unknown-event' },
    ],
    ['a fault of the network', failure('TypeError'), undefined],
    ['a refusal without words', failure('AI_APICallError'), undefined],
  ])('tells %s, in the stream or as its end', async (_, error, part) => {
    const expected = part === undefined ? [] : [part]
    expect(await told([{ type: 'error', error }])).toEqual(expected)
    expect(await told([], error)).toEqual(expected)
  })

  it.each<[unknown, number | undefined]>([
    [failure('AI_APICallError', { statusCode: 429, data: { error: { message: 'Slow.' } } }), 429],
    [failure('AI_APICallError', { statusCode: 400, responseBody: '{"error":{}}' }), 400],
    [failure('AI_APICallError', { statusCode: 200, responseBody: 'Slow.' }), undefined],
    [{ error: { message: 'Slow.' } }, undefined],
    ['Slow.', undefined],
  ])("tells the provider's complaint %#", async (error, status) => {
    const [part] = await told([{ type: 'error', error }])
    expect(part).toMatchObject({ kind: 'complaint' })
    const { complaint } = part as Extract<ProviderPart, { kind: 'complaint' }>
    expect(complaint.status).toBe(status)
  })

  it('waits until each part is consumed', async () => {
    const gate = Promise.withResolvers<void>()
    const taken: string[] = []
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      start(controller) {
        for (const delta of ['one', 'two'])
          controller.enqueue({ type: 'text-delta', id: 't', delta })
        controller.close()
      },
    })
    const running = new PackageStream(stream).run((part) => {
      taken.push(part.kind === 'text' ? part.text : part.kind)
      return taken.length === 1 ? gate.promise : undefined
    })
    // Everything that can settle has settled before the next tick of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    expect(taken).toEqual(['one'])
    gate.resolve()
    await running
    expect(taken).toEqual(['one', 'two'])
  })

  it('ends its source when it is cancelled', async () => {
    const cancelled = Promise.withResolvers<void>()
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      cancel: () => cancelled.resolve(),
    })
    const packaged = new PackageStream(stream)
    packaged.cancel()
    await cancelled.promise
  })
})
