import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openJournal } from '../agent/journal.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { durableModel, durableTools } from './ai-sdk.ts'

const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 }
const usage = { inputTokens: tokens, outputTokens: tokens }
const finish = (unified: string) => ({
  ...{ type: 'finish', finishReason: { unified, raw: unified }, usage },
})
const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input: '{}' }
const text = (delta: string) => [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta },
  { type: 'text-end', id: '1' },
]

/** Streams these answers, one for each step. */
function modelOf(specificationVersion: string, answers: readonly (readonly object[])[]) {
  let step = 0
  const doStream = async () => {
    const parts = answers[step++] ?? []
    const stream = new ReadableStream({
      start(out) {
        out.enqueue({ type: 'stream-start', warnings: [] })
        for (const part of parts) out.enqueue(part)
        out.close()
      },
    })
    return { stream }
  }
  const plain = { provider: 'test', modelId: 'm', supportedUrls: {} }
  return { specificationVersion, ...plain, doStream } as never
}

describe.each([
  ['ai', 'v4'],
  ['ai6', 'v3'],
])('a stream of %s', (name, version) => {
  it('starts a tool only once the answer that calls it is stored', async () => {
    const { stepCountIs, streamText, tool, wrapLanguageModel }: typeof import('ai') = await import(
      name
    )
    const store = openMemoryStore()
    let isKept = false
    const recordEntries: typeof store.recordEntries = async (request) => {
      const isAnswer = JSON.stringify(request).includes('"end":"model 0"')
      // A slow disk.
      for (let turn = 0; isAnswer && turn < 1_000; turn++) await new Promise(setImmediate)
      const outcome = await store.recordEntries(request)
      isKept ||= isAnswer
      return outcome
    }
    const journal = openJournal({ store: { ...store, recordEntries }, name: 'payer' })
    const wereKept: boolean[] = []
    const pay = tool({
      inputSchema: z.object({}),
      async execute() {
        wereKept.push(isKept)
        return 'paid'
      },
    })
    const run = journal.run('c', 'k')
    const model = modelOf(version, [
      [...text('One moment.'), call, finish('tool-calls')],
      [...text('Done.'), finish('stop')],
    ])
    const result = streamText({
      model: wrapLanguageModel({ model, middleware: durableModel(run) }),
      tools: durableTools(run, { pay }),
      prompt: 'Pay.',
      stopWhen: stepCountIs(3),
    })
    expect(await result.text).toBe('Done.')
    expect(wereKept).toEqual([true])
  })
})

it('passes on no call of an interrupted answer', async () => {
  const run = openJournal({ store: openMemoryStore(), name: 'payer' }).run('c', 'k')
  const { wrapStream } = durableModel(run) as unknown as {
    wrapStream(model: object): Promise<{ stream: ReadableStream<object> }>
  }
  const error = { type: 'error', error: new Error('overloaded') }
  const parts = [...text('One moment.'), call, error]
  const doStream = async () => ({ stream: ReadableStream.from(parts) })
  const { stream } = await wrapStream({ doStream })
  const passed: object[] = []
  for await (const part of stream) passed.push(part)
  expect(passed).toEqual([...text('One moment.'), error])
})

describe('a run of the AI SDK', () => {
  it('asks the model once for each answer, also after a restart', async () => {
    const store = openMemoryStore()
    let asked = 0
    const answer = async () => {
      const { wrapGenerate } = durableModel(
        openJournal({ store, name: 'payer' }).run('c', 'k'),
      ) as unknown as { wrapGenerate(model: object): Promise<object> }
      const doGenerate = async () => ({ content: ++asked })
      return [await wrapGenerate({ doGenerate }), await wrapGenerate({ doGenerate })]
    }
    const answers = [{ content: 1 }, { content: 2 }]
    expect(await answer()).toEqual(answers)
    expect(await answer()).toEqual(answers)
  })

  it('keeps the last value that a tool yields, and each repeated call apart', async () => {
    const store = openMemoryStore()
    const calls: unknown[] = []
    const made = () => {
      const run = openJournal({ store, name: 'payer' }).run('c', 'k')
      return durableTools(
        run,
        {
          count: {
            name: 'count',
            async *execute(this: { name: string }, input: unknown, options: object) {
              calls.push([this.name, input, options])
              yield 'begun'
              yield { calls: calls.length }
            },
          },
          look: { description: 'has no code of its own' },
          fail: { execute: () => Promise.reject(new Error('no money')) },
        },
        {},
      )
    }
    const options = { toolCallId: 'c1' }
    const play = async () => {
      const tools = made()
      // biome-ignore lint/suspicious/noExplicitAny: a tool of the AI SDK returns a value or a generator
      const count = tools.count.execute as any
      const failed = tools.fail.execute as unknown as (input: object, options: object) => unknown
      await expect(failed({}, { toolCallId: 'c2' })).rejects.toThrow('no money')
      return [await count.call(null, { a: 1 }, options), await count.call(null, { a: 2 }, options)]
    }
    const values = [{ calls: 1 }, { calls: 2 }]
    expect(await play()).toEqual(values)
    expect(calls).toEqual([
      ['count', { a: 1 }, options],
      ['count', { a: 2 }, options],
    ])
    expect(await play()).toEqual(values)
    expect(calls).toHaveLength(2)
    expect(made().look).toEqual({ description: 'has no code of its own' })
  })

  it('runs a tool that was cut short again only if it is repeatable', async () => {
    const store = openMemoryStore()
    const toolsOf = (execute: () => unknown) =>
      durableTools(
        openJournal({ store, name: 'payer' }).run('c', 'k'),
        { pay: { execute }, look: { execute } },
        { repeatable: ['look'] },
      ) as unknown as Record<string, { execute(input: object, options: object): Promise<unknown> }>
    const begun = Promise.withResolvers<void>()
    const first = toolsOf(() => {
      begun.resolve()
      return new Promise(() => {})
    })
    void first['pay']?.execute({}, { toolCallId: 'c1' })
    await begun.promise
    const again = toolsOf(() => 'paid')
    expect(await again['pay']?.execute({}, { toolCallId: 'c1' })).toBe(
      'An earlier attempt began "tool c1" and did not end. Whether it took effect is not known, so ' +
        'it was not done again.',
    )
    void first['look']?.execute({}, { toolCallId: 'c2' })
    expect(await again['look']?.execute({}, { toolCallId: 'c2' })).toBe('paid')
  })
})
