import { readFileSync } from 'node:fs'
import type Anthropic from '@anthropic-ai/sdk'
import type { ModelMessage } from 'ai'
import type OpenAI from 'openai'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { ERROR_CODES, isThroughlineError, ThroughlineError } from '../base/throughline-error.ts'
import { compact } from '../compaction/compact.ts'
import { checkWire } from '../message/dialects/check/check.ts'
import { readConversation } from '../message/read.ts'
import { convertConversation, writeConversation } from '../message/write.ts'
import { compactMessages, summaryWriter } from './compact-messages.ts'
import { aiSdk } from './typed-formats/ai-sdk.ts'
import { anthropic } from './typed-formats/anthropic.ts'
import { openaiChat, openaiResponses } from './typed-formats/openai.ts'

type Chat = OpenAI.ChatCompletionMessageParam[]

/** A long conversation with tools, in the words of each format. */
const example = readConversation(
  readFileSync(new URL('../../../../examples/long-conversation.json', import.meta.url), 'utf8'),
  'auto',
)
function listIn<Item>(format: 'openai-chat' | 'openai-responses' | 'anthropic' | 'ai-sdk'): Item[] {
  const document = JSON.parse(writeConversation(convertConversation(example, format)))
  return Array.isArray(document) ? document : (document.messages ?? document.input)
}
const chat = listIn<Chat[number]>('openai-chat')

describe('compactMessages', () => {
  it('accepts and returns the messages of each library in its own types', async () => {
    const small = { targetTokens: 8_000 }
    const a = await compactMessages(openaiChat, chat, small)
    expectTypeOf(a.messages).toEqualTypeOf<Chat>()
    const input = listIn<OpenAI.Responses.ResponseInputItem>('openai-responses')
    const b = await compactMessages(openaiResponses, input, small)
    expectTypeOf(b.messages).toEqualTypeOf<OpenAI.Responses.ResponseInputItem[]>()
    const claude = listIn<Anthropic.MessageParam>('anthropic')
    const c = await compactMessages(anthropic, claude, small)
    expectTypeOf(c.messages).toEqualTypeOf<Anthropic.MessageParam[]>()
    const d = await compactMessages(aiSdk, listIn<ModelMessage>('ai-sdk'), small)
    expectTypeOf(d.messages).toEqualTypeOf<ModelMessage[]>()
    for (const result of [a, b, c, d]) {
      expect(result).toMatchObject({ kind: 'compacted', by: 'digest' })
      expect(result.tokensAfter).toBeLessThanOrEqual(8_000)
      expect(Array.isArray(result.messages)).toBe(true)
    }
    const wires = [
      ['openai-chat', { messages: a.messages }],
      ['openai-responses', { input: b.messages }],
      ['anthropic', { messages: c.messages }],
    ] as const
    for (const [dialect, wire] of wires)
      expect(checkWire(dialect, JSON.parse(JSON.stringify(wire)))).toEqual([])
  })

  it('counts the messages of the library before and after', async () => {
    const result = await compactMessages(openaiChat, chat, { targetTokens: 8_000 })
    const asked = [...result.messages, { role: 'user', content: 'And now?' } as const]
    for (const given of [chat, asked]) {
      const { messages, stats } = await compactMessages(openaiChat, given, { targetTokens: 4_000 })
      expect(stats).toMatchObject({
        messagesBefore: given.length,
        messagesAfter: messages.length,
      })
    }
  })

  it('changes nothing on its own result, by identity', async () => {
    for (const when of ['needed', 'always'] as const) {
      const first = await compactMessages(openaiChat, chat, { targetTokens: 8_000, when })
      const again = await compactMessages(openaiChat, first.messages, { targetTokens: 8_000, when })
      expect(again.kind).toBe('unchanged')
      expect(again.messages).toBe(first.messages)
    }
  })

  it('leaves a conversation that fits unchanged, with only a window or only a target', async () => {
    const fits = await compactMessages(openaiChat, chat, { contextWindow: 128_000 })
    expect(fits).toMatchObject({ kind: 'unchanged', reason: 'fits' })
    expect(fits.messages).toBe(chat)
    const target = await compactMessages(openaiChat, chat, { targetTokens: 100_000 })
    expect(target).toMatchObject({ kind: 'unchanged', reason: 'fits' })
  })

  it('cuts a summary ten times too long instead of refusing it', async () => {
    const result = await compactMessages(openaiChat, chat, {
      targetTokens: 8_000,
      summarize: async ({ maxTokens }) => {
        const line = '- The migration of the bookings to the new database goes on as planned.\n'
        return line.repeat(Math.ceil((10 * maxTokens * 4) / line.length))
      },
    })
    expect(result).toMatchObject({ kind: 'compacted' })
    expect(result.tokensAfter).toBeLessThanOrEqual(8_000)
  })

  it('returns the error of `summarize` as a value', async () => {
    const cause = new Error('no key')
    const summarize = () => Promise.reject(cause)
    const result = await compactMessages(openaiChat, chat, { targetTokens: 8_000, summarize })
    expect(result).toMatchObject({ kind: 'failed', reason: 'summary-failed', cause })
    expect(result.messages).toBe(chat)
  })

  it('says how many tokens it needs if nothing fits', async () => {
    const long: Chat = [{ role: 'system', content: 'Be brief. '.repeat(4_000) }, ...chat]
    const result = await compactMessages(openaiChat, long, { targetTokens: 2_000 })
    expect(result).toMatchObject({ kind: 'cannot-fit', reason: 'system-too-large' })
    const targetTokens = result.kind === 'cannot-fit' ? result.neededTokens + 2_000 : 0
    const larger = await compactMessages(openaiChat, long, { targetTokens })
    expect(larger.kind).toBe('compacted')
  })

  it('rejects with the reason of an aborted signal, before and after the work', async () => {
    const reason = new Error('enough')
    const before = { targetTokens: 8_000, signal: AbortSignal.abort(reason) }
    await expect(compactMessages(openaiChat, chat, before)).rejects.toBe(reason)
    const controller = new AbortController()
    const late = compactMessages(openaiChat, chat, {
      ...{ targetTokens: 8_000, signal: controller.signal },
      summarize: async () => {
        controller.abort(reason)
        return 'All went well.'
      },
    })
    await expect(late).rejects.toBe(reason)
  })
})

describe('misuse of compactMessages', () => {
  const window = { contextWindow: 128_000 }
  const misuses: readonly (readonly [string, string, string, () => Promise<unknown>])[] = [
    [
      'a name as the format',
      'unknown-format',
      'format',
      // @ts-expect-error: a name is not a format
      () => compactMessages('openai', chat, window),
    ],
    [
      'a window of 0',
      'invalid-option',
      'contextWindow',
      () => compactMessages(openaiChat, chat, { contextWindow: 0 }),
    ],
    [
      'a window that is NaN',
      'invalid-option',
      'contextWindow',
      () => compactMessages(openaiChat, chat, { contextWindow: Number.NaN }),
    ],
    [
      'neither window nor target',
      'invalid-option',
      'contextWindow',
      () => compactMessages(openaiChat, chat, {}),
    ],
    [
      'a misspelt option',
      'invalid-option',
      'windowTokens',
      // @ts-expect-error: no such option
      () => compactMessages(openaiChat, chat, { windowTokens: 9_000 }),
    ],
    [
      'an unknown word',
      'invalid-option',
      'when',
      // @ts-expect-error: no such word
      () => compactMessages(openaiChat, chat, { ...window, when: 'never' }),
    ],
    ...(
      [
        ['a target larger than the window', 'targetTokens', { targetTokens: 128_001 }],
        ['an answer of 0 tokens', 'maxOutputTokens', { maxOutputTokens: 0 }],
        ['an answer larger than the window', 'maxOutputTokens', { maxOutputTokens: 128_001 }],
        ['a model that is no text', 'model', { model: 5 }],
        ['a focus that is no text', 'focus', { focus: 5 }],
        ['a signal of the wrong type', 'signal', { signal: {} }],
        ['a counter that is no function', 'countTokens', { countTokens: 5 }],
        ['a summarizer that is no function', 'summarize', { summarize: 'x' }],
      ] as const
    ).map(([what, at, wrong]) => {
      const options = { ...window, ...(wrong as object) }
      return [what, 'invalid-option', at, () => compactMessages(openaiChat, chat, options)] as const
    }),
    [
      'messages of another library',
      'wrong-format',
      'messages',
      // @ts-expect-error: messages of another library
      () => compactMessages(anthropic, chat, window),
    ],
    [
      'a whole request',
      'wrong-format',
      'messages',
      // @ts-expect-error: a request instead of its messages
      () => compactMessages(openaiChat, { messages: chat }, window),
    ],
  ]
  it.each(misuses)('refuses %s as %s at %s', async (_, code, at, misuse) => {
    const error = await misuse().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ThroughlineError)
    expect(error).toMatchObject({ code, at, retryable: false })
  })

  it('refuses messages of a library that were handed to `compact`', async () => {
    // @ts-expect-error: `compact` takes messages of our own model
    const error = await compact(chat, { budget: { targetTokens: 8_000 } }).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'wrong-format', at: 'messages[0]' })
  })
})

describe('isThroughlineError', () => {
  it('recognizes an error of another copy of the package, and its code', () => {
    const copy = Object.assign(new Error('x'), { name: 'ThroughlineError', code: 'wrong-format' })
    expect(isThroughlineError(copy)).toBe(true)
    expect(isThroughlineError(copy, 'wrong-format')).toBe(true)
    expect(isThroughlineError(copy, 'invalid-option')).toBe(false)
    expect(isThroughlineError(new Error('x'))).toBe(false)
  })

  it('has every code explained in the guide', () => {
    const guide = readFileSync(
      new URL('../../../../docs/guides/library.md', import.meta.url),
      'utf8',
    )
    const errors = guide.slice(guide.indexOf('## Errors'))
    const explained = [...errors.matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, code]) => code)
    expect(explained.toSorted()).toEqual([...ERROR_CODES].toSorted())
  })
})

describe('functions of the program', () => {
  it.each<[unknown, string]>([
    [Number.NaN, 'NaN'],
    [-1, '-1'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['5', '"5"'],
    [Promise.resolve(5), 'a promise (await it first)'],
  ])('refuses a counter that returns %s', async (made, shown) => {
    const countTokens = () => made as number
    await expect(
      compactMessages(openaiChat, chat, { targetTokens: 8_000, countTokens }),
    ).rejects.toMatchObject({
      ...{ code: 'invalid-option', at: 'countTokens' },
      message: `"countTokens" returned ${shown}. It returns a number of tokens, at once.`,
    })
  })

  it('fits the target as the counter of the program counts', async () => {
    const countTokens = (text: string) => text.length
    const options = { targetTokens: 20_000, countTokens }
    const { kind, tokensBefore, tokensAfter } = await compactMessages(openaiChat, chat, options)
    expect(kind).toBe('compacted')
    expect(tokensBefore).toBeGreaterThan(JSON.stringify(chat).length / 2)
    expect(tokensAfter).toBeLessThanOrEqual(20_000)
  })

  it('takes a summary as a text, or with whether it is complete', async () => {
    const { signal } = new AbortController()
    const asked = { system: 's', prompt: 'p', tokensMax: 5, focus: 'x' } as never
    const write = (made: unknown) => {
      const caught: { error?: unknown } = {}
      const seen: unknown[] = []
      const writer = summaryWriter(async (...given) => {
        seen.push(given)
        return made as string
      }, caught)
      return { reply: writer(asked, signal), caught, seen }
    }
    const whole = write('All well.')
    expect(await whole.reply).toEqual({ text: 'All well.', finish: 'stop' })
    expect(whole.seen).toEqual([[{ system: 's', prompt: 'p', maxTokens: 5 }, signal]])
    const parts = { text: 'All', isComplete: false }
    expect(await write(parts).reply).toEqual({ text: 'All', finish: 'length' })
    expect(await write({ ...parts, isComplete: true }).reply).toEqual({
      text: 'All',
      finish: 'stop',
    })
    for (const [made, shown] of [
      [undefined, 'undefined'],
      [null, 'null'],
      [{ text: 5 }, 'an object'],
    ]) {
      const { reply, caught } = write(made)
      const error = await reply.catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        ...{ code: 'reply-missing', at: 'summarize' },
        message: `"summarize" returned ${shown}. Return the text of the summary, or { text, isComplete }.`,
      })
      expect(caught.error).toBe(error)
    }
  })
})
