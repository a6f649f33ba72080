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
import { seal } from '../seal.ts'
import { openaiResponsesStandIn, writeCompaction } from './openai-responses.ts'
import { type Ask, type Finish, Rejection, responseIdOf, type StandInReply } from './protocol.ts'

/** Whole documents and whole streams, checked against the provider's own types. */

describe("OpenAI's Responses", () => {
  const usage = {
    ...{ input_tokens: 12, output_tokens: 7, total_tokens: 19 },
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 2 },
  } satisfies OpenAI.Responses.ResponseUsage
  const shell = (reply: StandInReply) => ({
    ...{ id: responseIdOf(reply, 'resp_'), object: 'response', created_at: 1_767_225_600 },
    ...{ error: null, incomplete_details: null, instructions: null, max_output_tokens: 50 },
    ...{ metadata: {}, model: 'pier-1', parallel_tool_calls: true, previous_response_id: null },
    ...{ store: false, temperature: null, tool_choice: 'auto', tools: [], top_p: null },
    truncation: 'disabled',
  })
  const items = (reply: StandInReply) => {
    const reasoning = {
      ...{ id: responseIdOf(reply, 'rs_'), type: 'reasoning', encrypted_content: seal('Hmm.') },
      summary: [{ type: 'summary_text', text: 'Hmm.' }],
    } as const satisfies OpenAI.Responses.ResponseReasoningItem
    const part = { type: 'output_text', text: 'I look.', annotations: [], logprobs: [] } as const
    const message = {
      ...{ id: responseIdOf(reply, 'msg_'), type: 'message', role: 'assistant' },
      ...{ status: 'completed', content: [part] },
    } as const
    const call = {
      ...{ id: responseIdOf(reply, 'fc_'), call_id: responseIdOf(reply, 'call_') },
      ...{ type: 'function_call', status: 'completed', name: 'find', arguments: '{"a":1}' },
    } as const satisfies OpenAI.Responses.ResponseFunctionToolCall
    return { reasoning, part, message, call }
  }

  it('are one document with their items in order', () => {
    const reply = replyWith(CALLED)
    const { reasoning, message, call } = items(reply)
    expect(openaiResponsesStandIn.writeWhole(reply)).toEqual({
      ...{ ...shell(reply), status: 'completed', output: [reasoning, message, call], usage },
    })
  })

  it('are a stream of numbered events', () => {
    const reply = replyWith(CALLED)
    const { reasoning, part, message, call } = items(reply)
    const open = { ...shell(reply), status: 'in_progress', output: [], usage: null }
    const thought = { item_id: reasoning.id, output_index: 0, summary_index: 0 }
    const said = { item_id: message.id, output_index: 1, content_index: 0 }
    const called = { item_id: call.id, output_index: 2 }
    const started = { ...message, status: 'in_progress', content: [] }
    const summary = { type: 'summary_text', text: 'Hmm.' }
    const closed = {
      ...{ ...shell(reply), status: 'completed', output: [reasoning, message, call], usage },
    }
    const events: [OpenAI.Responses.ResponseStreamEvent['type'], object][] = [
      ['response.created', { response: open }],
      ['response.in_progress', { response: open }],
      ['response.output_item.added', { output_index: 0, item: { ...reasoning, summary: [] } }],
      ['response.reasoning_summary_part.added', { ...thought, part: { ...summary, text: '' } }],
      ['response.reasoning_summary_text.delta', { ...thought, delta: 'Hmm.' }],
      ['response.reasoning_summary_text.done', { ...thought, text: 'Hmm.' }],
      ['response.reasoning_summary_part.done', { ...thought, part: summary }],
      ['response.output_item.done', { output_index: 0, item: reasoning }],
      ['response.output_item.added', { output_index: 1, item: started }],
      ['response.content_part.added', { ...said, part: { ...part, text: '' } }],
      ['response.output_text.delta', { ...said, delta: 'I lo', logprobs: [] }],
      ['response.output_text.delta', { ...said, delta: 'ok.', logprobs: [] }],
      ['response.output_text.done', { ...said, text: 'I look.', logprobs: [] }],
      ['response.content_part.done', { ...said, part }],
      ['response.output_item.done', { output_index: 1, item: message }],
      [
        'response.output_item.added',
        { output_index: 2, item: { ...call, status: 'in_progress', arguments: '' } },
      ],
      ['response.function_call_arguments.delta', { ...called, delta: '{"a"' }],
      ['response.function_call_arguments.delta', { ...called, delta: ':1}' }],
      ['response.function_call_arguments.done', { ...called, arguments: '{"a":1}' }],
      ['response.output_item.done', { output_index: 2, item: call }],
      ['response.completed', { response: closed }],
    ]
    expect(eventsOf(openaiResponsesStandIn, reply)).toEqual(
      events.map(([type, data], sequence_number) => ({ type, sequence_number, ...data })),
    )
  })

  it('refuse in a part of its own', () => {
    const reply = replyWith({ text: 'No.', finish: 'refusal' })
    const { output } = openaiResponsesStandIn.writeWhole(reply) as { output: JsonObject[] }
    expect(output[0]?.['content']).toEqual([{ type: 'refusal', refusal: 'No.' }])
    const events = eventsOf(openaiResponsesStandIn, reply) as JsonObject[]
    const place = { item_id: responseIdOf(reply, 'msg_'), output_index: 0, content_index: 0 }
    expect(events.slice(3, 6)).toEqual([
      {
        ...{ type: 'response.content_part.added', sequence_number: 3, ...place },
        part: { type: 'refusal', refusal: '' },
      },
      { type: 'response.refusal.delta', sequence_number: 4, ...place, delta: 'No.' },
      { type: 'response.refusal.done', sequence_number: 5, ...place, refusal: 'No.' },
    ])
  })

  it('call a tool that takes text in an item of its own', () => {
    const calls = [{ name: 'exec', input: 'ls -a' }]
    const reply = replyWith(
      { calls, finish: 'tool-calls' },
      { ask: { ...ASK, textTools: ['exec'] } },
    )
    const call = {
      ...{ id: responseIdOf(reply, 'ctc_'), call_id: responseIdOf(reply, 'call_') },
      ...{ type: 'custom_tool_call', status: 'completed', name: 'exec', input: 'ls -a' },
    }
    const { output } = openaiResponsesStandIn.writeWhole(reply) as { output: JsonObject[] }
    expect(output).toEqual([call])
    const place = { item_id: call.id, output_index: 0 }
    const type = 'response.custom_tool_call_input'
    expect(eventsOf(openaiResponsesStandIn, reply).slice(2, -1)).toEqual([
      {
        ...{ type: 'response.output_item.added', sequence_number: 2, output_index: 0 },
        item: { ...call, status: 'in_progress', input: '' },
      },
      { type: `${type}.delta`, sequence_number: 3, ...place, delta: 'ls -' },
      { type: `${type}.delta`, sequence_number: 4, ...place, delta: 'a' },
      { type: `${type}.done`, sequence_number: 5, ...place, input: 'ls -a' },
      { type: 'response.output_item.done', sequence_number: 6, output_index: 0, item: call },
    ])
  })

  it('of a compaction have every message of the user, then one item for all the rest', () => {
    const reply = replyWith({ text: 'Yes.' })
    const item = (index: number, content: unknown, more: object = {}) => ({
      ...{ id: responseIdOf(reply, 'msg_', index), role: 'user', type: 'message' },
      ...{ status: 'completed', content, ...more },
    })
    const input = [
      { role: 'user', content: 'One.' },
      { role: 'assistant', content: 'Two.' },
      { type: 'reasoning' },
      { role: 'user', content: [{ type: 'input_text', text: 'Three.' }], id: 'own' },
      { role: 'user' },
    ]
    const of = (given: unknown) =>
      writeCompaction(reply, { body: { input: given } as JsonObject, summary: 'The pier. So far.' })
    const compaction = {
      ...{ id: responseIdOf(reply, 'cmp_'), type: 'compaction' },
      encrypted_content: seal('The pier. So far.'),
    }
    expect(of(input)).toEqual({
      ...{ id: responseIdOf(reply, 'resp_'), object: 'response.compaction' },
      created_at: 1_767_225_600,
      output: [
        item(0, [{ type: 'input_text', text: 'One.' }]),
        item(1, [{ type: 'input_text', text: 'Three.' }], { id: 'own' }),
        item(2, []),
        compaction,
      ],
      usage: {
        ...{ input_tokens: 12, output_tokens: 5, total_tokens: 17 },
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
      },
    })
    expect(of('Hello.')['output']).toEqual([
      item(0, [{ type: 'input_text', text: 'Hello.' }]),
      compaction,
    ])
    expect(of(undefined)['output']).toEqual([compaction])
  })

  it('bring a compaction as an item before the answer', () => {
    const reply = replyWith({ compaction: 'The pier.', text: 'Yes.' })
    const item = { id: responseIdOf(reply, 'cmp_'), type: 'compaction' }
    const sealed = { ...item, encrypted_content: seal('The pier.') }
    const { output } = openaiResponsesStandIn.writeWhole(reply) as { output: JsonObject[] }
    expect(output.map(({ type }) => type)).toEqual(['compaction', 'message'])
    expect(output[0]).toEqual(sealed)
    const at = { output_index: 0, item: sealed }
    expect(eventsOf(openaiResponsesStandIn, reply).slice(2, 4)).toEqual([
      { type: 'response.output_item.added', sequence_number: 2, ...at },
      { type: 'response.output_item.done', sequence_number: 3, ...at },
    ])
  })

  it.each<[Finish, string, JsonObject | null]>([
    ['stop', 'completed', null],
    ['tool-calls', 'completed', null],
    ['refusal', 'completed', null],
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['window', 'incomplete', { reason: 'max_output_tokens' }],
    ['content-filter', 'incomplete', { reason: 'content_filter' }],
  ])('end by %s as %s', (finish, status, incomplete_details) => {
    const reply = replyWith({ text: 'So.', finish })
    expect(openaiResponsesStandIn.writeWhole(reply)).toMatchObject({
      ...{ status, incomplete_details, output: [{ status }] },
    })
    const last = eventsOf(openaiResponsesStandIn, reply).at(-1)
    expect(last).toMatchObject({ type: `response.${status}`, response: { status } })
  })

  it('report an error within a stream with its code and sequence number', () => {
    const frame = (rejection: Rejection) =>
      readFrame(openaiResponsesStandIn.writeErrorFrame(rejection, 7))
    const error = { type: 'error', message: 'No.', sequence_number: 7 }
    expect(frame(new Rejection('No.', { status: 500 }))).toEqual({
      ...{ ...error, code: 'server_error', param: null },
    })
    expect(frame(new Rejection('No.', { code: 'own', param: 'input' }))).toEqual({
      ...{ ...error, code: 'own', param: 'input' },
    })
  })

  it('overflow above the window', () => {
    const overflow = (inputTokens: number) =>
      openaiResponsesStandIn.overflow({ inputTokens, windowTokens: 100 })
    expect(overflow(100)).toBeUndefined()
    expect(overflow(101)).toMatchObject({ code: 'context_length_exceeded', param: 'input' })
  })

  const asked = (fields: JsonObject) =>
    openaiResponsesStandIn.readAsk({ model: 'pier-1', input: 'four', ...fields })

  it.each<[JsonObject, Partial<Ask>]>([
    [{}, { wantsStream: false, wantsReasoning: false, wantsUsage: true, inputTokens: 2 }],
    [{ instructions: 'eight888' }, { inputTokens: 4 }],
    [{ stream: true }, { wantsStream: true }],
    [{ reasoning: {} }, { wantsReasoning: true }],
    [{ reasoning: { effort: 'none' } }, { wantsReasoning: false }],
    [{ max_output_tokens: 9 }, { tokensMax: 9 }],
  ])('are asked with %j', (fields, wanted) => {
    expect(asked(fields)).toMatchObject(wanted)
  })

  it('are asked to compact by the last item, or from a size on', () => {
    const user = { role: 'user', content: 'four' }
    const trigger = { type: 'compaction_trigger' }
    expect(asked({ input: [user, trigger] }).wantsCompaction).toBe('alone')
    const from = (compact_threshold: number) =>
      asked({ context_management: [{ type: 'other' }, { type: 'compaction', compact_threshold }] })
        .wantsCompaction
    expect([from(1), from(2)]).toEqual(['first', undefined])
    expect(asked({}).wantsCompaction).toBeUndefined()
  })

  it('find tools that come as an item, and give text to those that want it', () => {
    const group = [
      { type: 'custom', name: 'exec' },
      { type: 'function', name: 'wait' },
    ]
    const tools = [{ type: 'namespace', name: 'functions', tools: group }]
    const input = [
      { type: 'additional_tools', role: 'developer', tools },
      { role: 'user', content: 'Hello.' },
    ]
    const ask = openaiResponsesStandIn.readAsk({ model: 'm', input })
    expect([ask.tools, ask.textTools]).toEqual([['exec', 'wait'], ['exec']])
    const calls = [{ name: 'exec', input: 'text(1)' }]
    const reply = { ...replyWith(CALLED), ask }
    const called = { ...reply, answer: { ...reply.answer, reasoning: '', text: '', calls } }
    const item = { type: 'custom_tool_call', name: 'exec', input: 'text(1)', status: 'completed' }
    expect(openaiResponsesStandIn.writeWhole(called)['output']).toMatchObject([item])
    const frames = openaiResponsesStandIn.writeFrames(called).map(readFrame)
    const done = frames.find((each) => JSON.stringify(each).includes('output_item.done'))
    expect(done).toMatchObject({ item })
  })

  it('refuse options that need stored state', () => {
    const refusal = (fields: JsonObject) => {
      try {
        asked(fields)
        return undefined
      } catch (error) {
        const { status, code, param, message } = error as Rejection
        return [status, code, param, message.split(':')[0]]
      }
    }
    expect(refusal({ previous_response_id: 'resp_1' })).toEqual([
      ...[400, 'previous_response_not_found', 'previous_response_id'],
      "Previous response with id 'resp_1' not found.",
    ])
    expect(refusal({ input: [{ type: 'item_reference', id: 'msg_1' }] })).toEqual([
      ...[404, null, 'input', "Item with id 'msg_1' not found"],
    ])
    expect(refusal({})).toBeUndefined()
  })
})
