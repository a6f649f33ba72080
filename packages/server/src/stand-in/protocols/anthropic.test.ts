import type Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import {
  CALLED,
  eventsOf,
  readFrame,
  replyWith,
} from '../../../../../test/support/providers/stand-in-reply.ts'
import { seal } from '../seal.ts'
import { anthropicStandIn } from './anthropic.ts'
import { type Ask, type Finish, Rejection, responseIdOf } from './protocol.ts'

/** Whole documents and whole streams, checked against the provider's own types. */

describe("Anthropic's Messages", () => {
  const usage = {
    ...{ input_tokens: 12, output_tokens: 7, service_tier: 'standard' },
    ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0, server_tool_use: null },
    output_tokens_details: { thinking_tokens: 2 },
  } as const

  it('are one document with their blocks in order', () => {
    const reply = replyWith(CALLED)
    const content: Partial<Anthropic.ContentBlock>[] = [
      { type: 'thinking', thinking: 'Hmm.', signature: seal('Hmm.') },
      { type: 'text', text: 'I look.', citations: null },
      {
        ...{ type: 'tool_use', id: responseIdOf(reply, 'toolu_'), name: 'find', input: { a: 1 } },
        caller: { type: 'direct' },
      },
    ]
    expect(anthropicStandIn.writeWhole(reply)).toEqual({
      ...{ id: responseIdOf(reply, 'msg_'), type: 'message', role: 'assistant', model: 'pier-1' },
      ...{ content, stop_reason: 'tool_use', stop_sequence: null, stop_details: null, usage },
    })
  })

  it('are a stream of events, each block from its start to its stop', () => {
    const reply = replyWith(CALLED)
    const caller = { type: 'direct' }
    const id = responseIdOf(reply, 'toolu_')
    const block = (index: number, start: JsonObject, deltas: readonly JsonObject[]) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]
    const empty = { stop_reason: null, stop_sequence: null, stop_details: null }
    expect(eventsOf(anthropicStandIn, reply)).toEqual([
      {
        type: 'message_start',
        message: {
          ...{ id: responseIdOf(reply, 'msg_'), type: 'message', role: 'assistant' },
          ...{ model: 'pier-1', content: [], ...empty, usage: { ...usage, output_tokens: 1 } },
        },
      },
      { type: 'ping' },
      ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
        { type: 'thinking_delta', thinking: 'Hmm.' },
        { type: 'signature_delta', signature: seal('Hmm.') },
      ]),
      ...block(1, { type: 'text', text: '', citations: null }, [
        { type: 'text_delta', text: 'I lo' },
        { type: 'text_delta', text: 'ok.' },
      ]),
      ...block(2, { type: 'tool_use', id, name: 'find', input: {}, caller }, [
        { type: 'input_json_delta', partial_json: '' },
        { type: 'input_json_delta', partial_json: '{"a"' },
        { type: 'input_json_delta', partial_json: ':1}' },
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null },
        usage,
      },
      { type: 'message_stop' },
    ])
  })

  it('send a compaction in one delta, and stop after one without an answer', () => {
    const reply = replyWith({ compaction: 'The pier.' })
    const signature = seal('The pier.')
    const block = { type: 'compaction', content: 'The pier.', encrypted_content: null, signature }
    expect(anthropicStandIn.writeWhole(reply)).toMatchObject({
      ...{ content: [block], stop_reason: 'compaction' },
    })
    expect(eventsOf(anthropicStandIn, reply).slice(2, 4)).toEqual([
      { type: 'content_block_start', index: 0, content_block: { ...block, content: '' } },
      {
        ...{ type: 'content_block_delta', index: 0 },
        delta: { type: 'compaction_delta', content: 'The pier.', encrypted_content: null },
      },
    ])
    const both = replyWith({ compaction: 'The pier.', text: 'Yes.' })
    expect(anthropicStandIn.writeWhole(both)).toMatchObject({ stop_reason: 'end_turn' })
  })

  it.each<[Finish, Anthropic.StopReason]>([
    ['stop', 'end_turn'],
    ['tool-calls', 'tool_use'],
    ['length', 'max_tokens'],
    ['window', 'model_context_window_exceeded'],
    ['content-filter', 'refusal'],
    ['refusal', 'refusal'],
  ])('end by %s as %s', (finish, reason) => {
    const explanation = 'The stand-in plays a refusal.'
    const details = { type: 'refusal', category: null, explanation }
    expect(anthropicStandIn.writeWhole(replyWith({ text: 'No.', finish }))).toMatchObject({
      stop_reason: reason,
      stop_details: reason === 'refusal' ? details : null,
    })
  })

  it.each(['[1]', '{"a":', '"a"'])('hold no arguments for %s', (input) => {
    const reply = replyWith({ calls: [{ name: 'find', input }] })
    expect(anthropicStandIn.writeWhole(reply)['content']).toMatchObject([{ input: {} }])
  })

  it.each<[number, string]>([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [413, 'request_too_large'],
    [429, 'rate_limit_error'],
    [499, 'invalid_request_error'],
    [500, 'api_error'],
    [529, 'overloaded_error'],
  ])('refuse %i as %s', (status, type) => {
    const rejection = new Rejection('No.', { status })
    const error = { type: 'error', error: { type, message: 'No.' } }
    expect(anthropicStandIn.writeError(rejection)).toEqual(error)
    expect(readFrame(anthropicStandIn.writeErrorFrame(rejection, 3))).toEqual(error)
  })

  const prompt = { model: 'pier-1', messages: [{ role: 'user', content: 'four' }] }

  it.each<[string, JsonObject, Partial<Ask>]>([
    ['thinking', { thinking: { type: 'enabled' } }, { wantsReasoning: true }],
    ['adaptive thinking', { thinking: { type: 'adaptive' } }, { wantsReasoning: true }],
    ['no thinking', { thinking: { type: 'disabled' } }, { wantsReasoning: false }],
    ['a stream', { stream: true }, { wantsStream: true }],
    ['one document', {}, { wantsStream: false, wantsReasoning: false, wantsUsage: true }],
    ['a limit', { max_tokens: 9 }, { tokensMax: 9, model: 'pier-1' }],
    ['a compaction', { compaction: { type: 'summarize' } }, { wantsCompaction: 'alone' }],
  ])('are asked for %s', (_, fields, asked) => {
    const body = { max_tokens: 50, ...prompt, ...fields }
    expect(anthropicStandIn.readAsk(body)).toMatchObject(asked)
  })

  it('are asked to compact from a size on', () => {
    const wanted = (edit: JsonObject) =>
      anthropicStandIn.readAsk({
        ...{ ...prompt, max_tokens: 50 },
        context_management: { edits: [{ type: 'clear' }, { type: 'compact_20260112', ...edit }] },
      }).wantsCompaction
    const { inputTokens } = anthropicStandIn.readAsk({ ...prompt, max_tokens: 50 })
    expect(inputTokens).toBe(2)
    expect(wanted({ trigger: { type: 'input_tokens', value: 1 } })).toBe('first')
    expect(wanted({ trigger: { value: 2 } })).toBeUndefined()
    expect(wanted({ trigger: { value: 1 }, pause_after_compaction: true })).toBe('alone')
    expect(wanted({ trigger: { value: 1 }, pause_after_compaction: false })).toBe('first')
    expect(wanted({})).toBeUndefined()
  })

  it('need a limit', () => {
    const refused = expect(() => anthropicStandIn.readAsk(prompt))
    refused.toThrow(new Rejection('max_tokens: Field required', { param: 'max_tokens' }))
  })

  it.each([
    [100, undefined, undefined],
    [101, undefined, 'prompt is too long: 101 tokens > 100 maximum'],
    [60, 40, undefined],
    [60, 41, 'input length and `max_tokens` exceed context limit: 60 + 41 > 100'],
  ])('of %s tokens and a limit of %s: %s', (inputTokens, tokensMax, problem) => {
    const found = anthropicStandIn.overflow({ inputTokens, tokensMax, windowTokens: 100 })
    expect(found?.message.split(',')[0]).toBe(problem)
  })
})
