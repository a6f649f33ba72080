import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import {
  ASK,
  CALLED,
  eventsOf,
  readFrame,
  replyWith,
} from '../../../../../test/support/providers/stand-in-reply.ts'
import { openaiChatStandIn } from './openai-chat.ts'
import {
  type Answer,
  type Ask,
  type Finish,
  Rejection,
  responseIdOf,
  type StandInReply,
} from './protocol.ts'

/** Whole documents and whole streams, checked against the provider's own types. */

describe("OpenAI's Chat Completions", () => {
  const usage = {
    ...{ prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 },
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      ...{ reasoning_tokens: 2, audio_tokens: 0 },
      ...{ accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
    },
  } satisfies OpenAI.CompletionUsage
  const shell = (reply: StandInReply) => ({
    ...{ id: responseIdOf(reply, 'chatcmpl-'), created: 1_767_225_600, model: 'pier-1' },
    ...{ service_tier: 'default' as const, system_fingerprint: 'fp_standin' },
  })

  it('are one document', () => {
    const reply = replyWith(CALLED)
    const called = {
      ...{ id: responseIdOf(reply, 'call_'), type: 'function' as const },
      function: { name: 'find', arguments: '{"a":1}' },
    }
    const message = {
      ...{ role: 'assistant' as const, content: 'I look.', refusal: null, annotations: [] },
      ...{ reasoning_content: 'Hmm.', tool_calls: [called] },
    }
    const expected: OpenAI.ChatCompletion = {
      ...{ ...shell(reply), object: 'chat.completion', usage },
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'tool_calls' }],
    }
    expect(openaiChatStandIn.writeWhole(reply)).toEqual(expected)
  })

  it.each<[Partial<Answer>, JsonObject]>([
    [{ text: 'Yes.' }, { content: 'Yes.', refusal: null }],
    [{}, { content: '', refusal: null }],
    [{ calls: CALLED.calls }, { content: null, refusal: null }],
    [
      { text: 'No.', finish: 'refusal' },
      { content: null, refusal: 'No.' },
    ],
  ])('say %j as %j', (answer, said) => {
    const { choices } = openaiChatStandIn.writeWhole(replyWith(answer)) as {
      choices: { message: JsonObject }[]
    }
    expect(choices[0]?.message).toMatchObject(said)
    const keys = Object.keys(choices[0]?.message ?? {})
    expect(keys.includes('tool_calls')).toBe(answer.calls !== undefined)
    expect(keys.includes('reasoning_content')).toBe(false)
  })

  it.each<[Finish, OpenAI.ChatCompletion.Choice['finish_reason']]>([
    ['stop', 'stop'],
    ['tool-calls', 'tool_calls'],
    ['length', 'length'],
    ['window', 'length'],
    ['content-filter', 'content_filter'],
    ['refusal', 'stop'],
  ])('end by %s as %s', (finish, reason) => {
    const whole = openaiChatStandIn.writeWhole(replyWith({ text: 'So.', finish }))
    expect(whole['choices']).toMatchObject([{ finish_reason: reason }])
  })

  it('are a stream of chunks that ends with the usage', () => {
    const reply = replyWith(CALLED)
    const start = { ...shell(reply), object: 'chat.completion.chunk' as const, usage: null }
    const chunk = (
      delta: OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: string },
      finish_reason: 'tool_calls' | null = null,
    ): OpenAI.ChatCompletionChunk => ({
      ...{ ...start, choices: [{ index: 0, delta, finish_reason, logprobs: null }] },
    })
    const id = responseIdOf(reply, 'call_')
    const called = { index: 0, id, type: 'function' as const }
    expect(eventsOf(openaiChatStandIn, reply)).toEqual([
      chunk({ role: 'assistant', content: '', refusal: null }),
      chunk({ reasoning_content: 'Hmm.' }),
      chunk({ content: 'I lo' }),
      chunk({ content: 'ok.' }),
      chunk({ tool_calls: [{ ...called, function: { name: 'find', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      chunk({}, 'tool_calls'),
      { ...start, choices: [], usage },
      '[DONE]',
    ])
  })

  it('report usage only on request, and a refusal under its own key', () => {
    const ask = { ...ASK, wantsUsage: false }
    const frames = eventsOf(
      openaiChatStandIn,
      replyWith({ text: 'No.', finish: 'refusal' }, { ask }),
    ) as { choices: { delta: JsonObject }[] }[]
    expect(frames).toHaveLength(4)
    expect(frames[1]?.choices[0]?.delta).toEqual({ refusal: 'No.' })
    expect(JSON.stringify(frames)).not.toContain('usage')
  })

  it('of two answers carry the id of the other in their second half', () => {
    const reply = replyWith({ text: 'one two three' }, { isMixed: true })
    const frames = eventsOf(openaiChatStandIn, reply) as { id?: string }[]
    const own = responseIdOf(reply, 'chatcmpl-')
    const isOwn = frames.flatMap(({ id }) => (id === undefined ? [] : [id === own]))
    expect(isOwn).toEqual([true, true, true, false, false, false, false])
  })

  it.each<[number, string, string | null]>([
    [400, 'invalid_request_error', null],
    [401, 'invalid_request_error', 'invalid_api_key'],
    [429, 'requests', 'rate_limit_exceeded'],
    [499, 'invalid_request_error', null],
    [500, 'server_error', 'server_error'],
  ])('refuse %i as %s', (status, type, code) => {
    const rejection = new Rejection('No.', { status, param: 'model' })
    const error = { error: { message: 'No.', type, param: 'model', code } }
    expect(openaiChatStandIn.writeError(rejection)).toEqual(error)
    expect(readFrame(openaiChatStandIn.writeErrorFrame(rejection, 3))).toEqual(error)
    const own = openaiChatStandIn.writeError(new Rejection('No.', { status, code: 'own' }))
    expect(own['error']).toMatchObject({ code: 'own', param: null })
  })

  const prompt = { model: 'pier-1', messages: [{ role: 'user', content: 'four' }] }

  it.each<[JsonObject, Partial<Ask>]>([
    [{}, { wantsStream: false, wantsReasoning: false, wantsUsage: false, inputTokens: 2 }],
    [{ stream: true }, { wantsStream: true }],
    [{ reasoning_effort: 'low' }, { wantsReasoning: true }],
    [{ reasoning_effort: 'none' }, { wantsReasoning: false }],
    [{ reasoning_effort: 3 }, { wantsReasoning: false }],
    [{ stream_options: { include_usage: true } }, { wantsUsage: true }],
    [{ stream_options: { include_usage: false } }, { wantsUsage: false }],
    [{ max_tokens: 9 }, { tokensMax: 9 }],
    [{ max_completion_tokens: 8, max_tokens: 9 }, { tokensMax: 8 }],
  ])('are asked with %j', (fields, asked) => {
    expect(openaiChatStandIn.readAsk({ ...prompt, ...fields })).toMatchObject(asked)
  })

  it.each([
    [100, undefined, undefined],
    [101, undefined, 'your messages resulted in 101 tokens'],
    [60, 40, undefined],
    [60, 41, 'you requested 101 tokens (60 in the messages, 41 in the completion)'],
  ])('of %s tokens and a limit of %s: %s', (inputTokens, tokensMax, problem) => {
    const found = openaiChatStandIn.overflow({ inputTokens, tokensMax, windowTokens: 100 })
    expect(found?.message.includes(problem ?? '')).toBe(problem === undefined ? undefined : true)
    if (found !== undefined) {
      expect([found.code, found.param]).toEqual(['context_length_exceeded', 'messages'])
    }
  })
})
