import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startStandIn } from './raw-client.ts'

/**
 * The official clients talk to the stand-in: they are written by strangers to it, and read an answer
 * as they read their provider's.
 */
let running: Awaited<ReturnType<typeof startStandIn>>
let openai: OpenAI
let anthropic: Anthropic
beforeAll(async () => {
  running = await startStandIn({
    windowTokens: (model) => (model === 'small' ? 100 : undefined),
    speed: { outputTokensPerSecond: 2_000 },
  })
  openai = new OpenAI({ apiKey: 'none', baseURL: `${running.url}/v1`, maxRetries: 0 })
  anthropic = new Anthropic({ apiKey: 'none', baseURL: running.url, maxRetries: 0 })
})
beforeEach(() => running.server.journal.clear())
afterAll(() => running.close())

const model = 'stand-in'
const question = 'The code word is PELICAN. What was the code word?'
const asked = [{ role: 'user' as const, content: question }]
const schema = { type: 'object' as const, properties: { path: { type: 'string' } } }
const twoCalls = [
  { role: 'user' as const, content: 'use read {"path":"a.txt"}\nuse read {"path":"b.txt"}' },
]
const long = 'word '.repeat(200)
/** An answer of ten seconds: it is not over when the client disconnects. */
const endless = `say ${'word '.repeat(16_000)}`

describe('openai, chat', () => {
  const tools = [{ type: 'function' as const, function: { name: 'read', parameters: schema } }]

  it('reads a stream, its end and its usage', async () => {
    const stream = openai.chat.completions.stream({
      model,
      messages: asked,
      stream_options: { include_usage: true },
    })
    const pieces: string[] = []
    stream.on('content', (delta) => pieces.push(delta))
    const final = await stream.finalChatCompletion()
    expect(pieces.length).toBeGreaterThan(5)
    expect(pieces.join('')).toBe(final.choices[0]?.message.content)
    expect(pieces.join('')).toContain('PELICAN')
    expect(final.choices[0]?.finish_reason).toBe('stop')
    expect(final.usage?.prompt_tokens).toBe(Math.ceil((question.length + 'user'.length) / 4))
    expect(final.usage?.completion_tokens).toBe(Math.ceil(pieces.join('').length / 4))
  })

  it('reads a whole answer', async () => {
    const answer = await openai.chat.completions.create({ model, messages: asked })
    expect(answer.choices[0]?.message.content).toContain('PELICAN')
    expect(answer._request_id).toMatch(/^req_standin_/)
  })

  it('takes tool calls, and hands the results in', async () => {
    const request = { model, messages: twoCalls, tools }
    const final = await openai.chat.completions.stream(request).finalChatCompletion()
    const message = final.choices[0]?.message
    expect(final.choices[0]?.finish_reason).toBe('tool_calls')
    const calls = (message?.tool_calls ?? []).filter((call) => call.type === 'function')
    expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([
      { path: 'a.txt' },
      { path: 'b.txt' },
    ])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    const results = calls.map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: 'four lines',
    }))
    if (message === undefined) throw new Error('no message')
    const messages = [...twoCalls, message, ...results]
    const next = await openai.chat.completions.create({ model, messages, tools })
    expect(next.choices[0]?.message.content).toContain('answered: four lines')
  })

  it('recognizes its errors', async () => {
    const overflow = openai.chat.completions.create({
      model: 'small',
      messages: [{ role: 'user', content: long }],
    })
    await expect(overflow).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' })
    await expect(overflow).rejects.toThrow(OpenAI.BadRequestError)
    const call = (fault: string) =>
      openai.chat.completions.create(
        { model, messages: asked },
        { headers: { 'x-stand-in-fault': fault } },
      )
    await expect(call('status; code=401')).rejects.toThrow(OpenAI.AuthenticationError)
    await expect(call('status; code=429')).rejects.toThrow(OpenAI.RateLimitError)
    await expect(call('status; code=503')).rejects.toThrow(OpenAI.InternalServerError)
    await expect(call('reset-before-headers')).rejects.toThrow(OpenAI.APIConnectionError)
  })

  it('retries if the server says so', async () => {
    running.server.faults.next('status; code=429; retry-after=0.01')
    const patient = openai.withOptions({ maxRetries: 1 })
    const answer = await patient.chat.completions.create({ model, messages: asked })
    expect(answer.choices[0]?.message.content).toContain('PELICAN')
    expect(running.server.journal.entries.map(({ status }) => status)).toEqual([429, 200])
  })

  it('reads an error within a stream as one', async () => {
    running.server.faults.next('stream-error')
    const stream = await openai.chat.completions.create({ model, messages: asked, stream: true })
    await expect(gather(stream)).rejects.toThrow(OpenAI.APIError)
  })

  it('leaves a stream that it aborts', async () => {
    const messages = [{ role: 'user' as const, content: endless }]
    const stream = await openai.chat.completions.create({ model, messages, stream: true })
    for await (const _ of stream) stream.controller.abort()
    await expect.poll(() => running.server.journal.last?.outcome).toBe('left')
  })

  it('lists the models', async () => {
    const models = await gather(openai.models.list())
    expect(models.map(({ id }) => id)).toEqual(['stand-in'])
  })
})

describe('openai, Responses', () => {
  const tools = [
    { type: 'function' as const, name: 'read', parameters: schema, strict: false as const },
  ]

  it('reads a stream with reasoning, its end and its usage', async () => {
    const stream = openai.responses.stream({
      model,
      input: question,
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
    })
    const types: string[] = []
    stream.on('event', (event) => types.push(event.type))
    const final = await stream.finalResponse()
    expect(final.output_text).toContain('PELICAN')
    expect(final.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    expect(final.status).toBe('completed')
    expect(final.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0)
    expect(types[0]).toBe('response.created')
    expect(types.at(-1)).toBe('response.completed')
    expect(types).toContain('response.reasoning_summary_text.delta')
  })

  it('takes tool calls, and hands the items back with the results', async () => {
    const request = { model, input: twoCalls, tools, reasoning: { effort: 'low' as const } }
    const final = await openai.responses.stream(request).finalResponse()
    const calls = final.output.filter((item) => item.type === 'function_call')
    expect(calls.map((call) => JSON.parse(call.arguments))).toEqual([
      { path: 'a.txt' },
      { path: 'b.txt' },
    ])
    const results = calls.map(({ call_id }) => ({
      type: 'function_call_output' as const,
      call_id,
      output: 'four lines',
    }))
    const items = final.output as OpenAI.Responses.ResponseInputItem[]
    const input = [...twoCalls, ...items, ...results]
    const next = await openai.responses.create({ model, input, tools })
    expect(next.output_text).toContain('answered: four lines')
  })

  it('compacts, and answers from the compaction', async () => {
    const input = [
      { role: 'user' as const, content: 'Find the number.' },
      { role: 'assistant' as const, content: 'The build number is 4711.' },
      { role: 'user' as const, content: 'Good.' },
    ]
    const compacted = await openai.responses.compact({ model, input })
    expect(compacted.object).toBe('response.compaction')
    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction'])
    const items = compacted.output as OpenAI.Responses.ResponseInputItem[]
    const next = await openai.responses.create({
      model,
      input: [...items, { role: 'user', content: 'What was the build number?' }],
    })
    expect(next.output_text).toContain('4711')
  })

  it('finds a compaction in front of the answer once the input is long enough', async () => {
    const request = {
      model,
      input: long,
      context_management: [{ type: 'compaction', compact_threshold: 10 }],
    }
    const final = await openai.responses.stream(request).finalResponse()
    expect(final.output.map(({ type }) => type)).toEqual(['compaction', 'message'])
  })

  it('recognizes its errors, an early end and a refusal', async () => {
    const overflow = openai.responses.create({ model: 'small', input: long })
    await expect(overflow).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' })
    const stored = openai.responses.create({ model, input: 'a', previous_response_id: 'resp_1' })
    await expect(stored).rejects.toMatchObject({ code: 'previous_response_not_found' })
    const short = await openai.responses.create({ model, input: question, max_output_tokens: 16 })
    expect(short).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
    running.server.faults.next('refusal')
    const refused = await openai.responses.create({ model, input: question })
    expect(refused.output[0]).toMatchObject({ content: [{ type: 'refusal' }] })
    running.server.faults.next('stream-error')
    const stream = await openai.responses.create({ model, input: question, stream: true })
    await expect(gather(stream)).rejects.toThrow(OpenAI.APIError)
  })

  it('leaves a stream that it aborts', async () => {
    const input = endless
    const stream = await openai.responses.create({ model, input, stream: true })
    for await (const _ of stream) stream.controller.abort()
    await expect.poll(() => running.server.journal.last?.outcome).toBe('left')
  })
})

describe('anthropic', () => {
  const tools = [{ name: 'read', input_schema: schema }]
  const max_tokens = 4_000
  const thinking = { type: 'enabled' as const, budget_tokens: 1_024 }

  it('compacts on demand or at a size, and answers from the compaction', async () => {
    const messages = [
      { role: 'user' as const, content: `Find the number. ${long}` },
      { role: 'assistant' as const, content: 'The build number is 4711.' },
      { role: 'user' as const, content: 'Good.' },
    ]
    const compaction = { type: 'summarize' as const }
    const betas = ['compact-2026-09-04']
    const request = { model, max_tokens, messages, compaction, betas }
    const compacted = await anthropic.beta.messages.stream(request).finalMessage()
    expect(compacted.content.map(({ type }) => type)).toEqual(['compaction'])
    expect(compacted.stop_reason).toBe('compaction')
    const next = await anthropic.beta.messages.create({
      model,
      max_tokens,
      betas,
      messages: [
        { role: 'user', content: 'Go on from here.' },
        { role: 'assistant', content: compacted.content },
        { role: 'user', content: 'What was the build number?' },
      ],
    })
    expect(JSON.stringify(next.content)).toContain('4711')
    const edit = {
      type: 'compact_20260112' as const,
      trigger: { type: 'input_tokens' as const, value: 10 },
    }
    const edited = await anthropic.beta.messages.create({
      model,
      max_tokens,
      messages,
      context_management: { edits: [edit] },
    })
    expect(edited.content.map(({ type }) => type)).toEqual(['compaction', 'text'])
  })

  it('reads a stream with reasoning, its end and its usage', async () => {
    const stream = anthropic.messages.stream({ model, max_tokens, messages: asked, thinking })
    const pieces: string[] = []
    stream.on('text', (text) => pieces.push(text))
    const final = await stream.finalMessage()
    expect(pieces.length).toBeGreaterThan(5)
    expect(pieces.join('')).toContain('PELICAN')
    expect(final.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
    expect(final.stop_reason).toBe('end_turn')
    expect(final.usage.input_tokens).toBe(Math.ceil((question.length + 'user'.length) / 4))
    expect(final.usage.output_tokens).toBeGreaterThan(10)
  })

  it('takes tool calls, and hands thoughts, calls and results back', async () => {
    const request = { model, max_tokens, messages: twoCalls, tools, thinking }
    const final = await anthropic.messages.stream(request).finalMessage()
    const calls = final.content.filter((block) => block.type === 'tool_use')
    expect(final.stop_reason).toBe('tool_use')
    expect(calls.map(({ input }) => input)).toEqual([{ path: 'a.txt' }, { path: 'b.txt' }])
    const results = calls.map(({ id }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: 'four lines',
    }))
    const messages = [
      ...twoCalls,
      { role: 'assistant' as const, content: final.content },
      { role: 'user' as const, content: results },
    ]
    const next = await anthropic.messages.create({ ...request, messages })
    expect(JSON.stringify(next.content)).toContain('answered: four lines')
  })

  it('counts tokens and lists the models', async () => {
    const count = await anthropic.messages.countTokens({ model, messages: asked })
    expect(count.input_tokens).toBe(Math.ceil((question.length + 'user'.length) / 4))
    const models = await gather(anthropic.models.list())
    expect(models.map(({ id }) => id)).toEqual(['stand-in'])
  })

  it('recognizes its errors and a refusal', async () => {
    const messages = [{ role: 'user' as const, content: long }]
    const overflow = anthropic.messages.create({ model: 'small', max_tokens: 10, messages })
    await expect(overflow).rejects.toThrow('prompt is too long: 251 tokens > 100 maximum')
    await expect(overflow).rejects.toThrow(Anthropic.BadRequestError)
    const call = (fault: string) =>
      anthropic.messages.create(
        { model, max_tokens, messages: asked },
        { headers: { 'x-stand-in-fault': fault } },
      )
    await expect(call('status; code=401')).rejects.toThrow(Anthropic.AuthenticationError)
    await expect(call('status; code=529')).rejects.toThrow('overloaded_error')
    await expect(call('reset-before-headers')).rejects.toThrow(Anthropic.APIConnectionError)
    expect((await call('refusal')).stop_reason).toBe('refusal')
    running.server.faults.next('stream-error')
    const stream = anthropic.messages.stream({ model, max_tokens, messages: asked })
    await expect(stream.finalMessage()).rejects.toThrow('overloaded_error')
  })

  it('notices a cut stream', async () => {
    running.server.faults.next('cut-stream')
    const stream = anthropic.messages.stream({ model, max_tokens, messages: asked })
    await expect(stream.finalMessage()).rejects.toThrow(Anthropic.AnthropicError)
  })

  it('leaves a stream that it aborts', async () => {
    const messages = [{ role: 'user' as const, content: endless }]
    const stream = anthropic.messages.stream({ model, max_tokens: 30_000, messages })
    stream.on('text', () => stream.abort())
    await expect(stream.done()).rejects.toThrow(Anthropic.APIUserAbortError)
    await expect.poll(() => running.server.journal.last?.outcome).toBe('left')
  })
})

async function gather<Value>(values: AsyncIterable<Value>): Promise<readonly Value[]> {
  const gathered: Value[] = []
  for await (const value of values) gathered.push(value)
  return gathered
}
