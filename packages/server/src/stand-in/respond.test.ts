import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import type { Fault } from './faults.ts'
import type { JournalEntry } from './journal.ts'
import { findEndpoint, type RespondOptions, respond, respondWithError } from './respond.ts'
import { seal } from './seal.ts'

const CHAT = '/v1/chat/completions'

interface Request {
  readonly path?: string
  readonly method?: string
  readonly headers?: JournalEntry['headers']
  readonly body?: JsonObject | null
  readonly fault?: Partial<Fault>
}

function entryOf({
  path = CHAT,
  method = 'POST',
  headers = {},
  body,
  fault,
}: Request): JournalEntry {
  const bodyText = body === null ? '' : JSON.stringify(body ?? said('say Yes.'))
  const entry = { number: 7, path, method, headers, bodyText, fault }
  return {
    ...entry,
    ...(body !== null && { body: JSON.parse(bodyText) }),
  } as unknown as JournalEntry
}

function said(text: string, more: JsonObject = {}): JsonObject {
  return { model: 'm', messages: [{ role: 'user', content: text }], ...more }
}

function answerTo(request: Request, options: RespondOptions = {}) {
  const entry = entryOf(request)
  const { frames, ...rest } = respond(findEndpoint(entry), entry, options)
  return {
    ...rest,
    texts: frames.map(({ text }) => text),
    tokens: frames.map((each) => each.tokens),
  }
}

const documentOf = (request: Request, options?: RespondOptions) =>
  JSON.parse(answerTo(request, options).texts.join('')) as JsonObject

const IDENTITY = {
  ...{ 'x-request-id': 'req_standin_7', 'request-id': 'req_standin_7' },
  'x-stand-in': 'This answer comes from a stand-in, not from a model.',
}
const JSON_HEADERS = { 'content-type': 'application/json', ...IDENTITY }
const ANTHROPIC = { 'anthropic-version': '2023-06-01' }

describe('an endpoint', () => {
  it.each([
    ['POST', CHAT, {}, 'model', 'openai-chat'],
    ['POST', '/responses', {}, 'model', 'openai-responses'],
    ['POST', '/backend-api/codex/responses/compact', {}, 'compact', 'openai-responses'],
    ['POST', '/v1/messages', {}, 'model', 'anthropic'],
    ['POST', '/v1/messages/count_tokens', {}, 'count-tokens', 'anthropic'],
    ['POST', '/v1/embeddings', {}, 'embed', 'openai-chat'],
    ['GET', '/v1/models', {}, 'models', 'openai-chat'],
    ['GET', '/v1/models', ANTHROPIC, 'models', 'anthropic'],
    ['POST', '/v1/models', {}, 'unknown', 'openai-chat'],
    ['GET', '/v1/messages', ANTHROPIC, 'unknown', 'anthropic'],
  ])('is found by %s %s with %o', (method, path, headers, kind, name) => {
    const found = findEndpoint(entryOf({ method, path, headers }))
    expect({ kind: found.kind, name: found.protocol.name }).toEqual({ kind, name })
  })
})

describe('an answer', () => {
  it('is one document with its size and the request that it answers', () => {
    const { texts, ...rest } = answerTo({ headers: { 'x-client-request-id': 'mine' } })
    expect(rest).toEqual({
      ...{ status: 200, inputTokens: 3, tokens: [1] },
      headers: { ...JSON_HEADERS, 'x-client-request-id': 'mine' },
    })
    expect(JSON.parse(texts[0] ?? '')).toMatchObject({
      choices: [{ message: { content: 'Yes.' } }],
    })
  })

  it('is a stream, at a slow pace if the user asks for one', () => {
    const stream = (text: string) => {
      const { texts: _, tokens, ...rest } = answerTo({ body: said(text, { stream: true }) })
      return rest
    }
    const type = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
    const headers = { ...type, ...IDENTITY }
    expect(stream('say Yes.')).toStrictEqual({ status: 200, headers, inputTokens: 3 })
    expect(stream('slowly: say Yes.')).toStrictEqual({
      ...{ status: 200, headers, inputTokens: 5, outputTokensPerSecond: 5 },
    })
  })

  it('lists the models as each provider does', () => {
    const listed = (
      models: readonly string[] | undefined,
      headers: JournalEntry['headers'] = {},
    ) => {
      const request = { method: 'GET', path: '/v1/models', headers, body: null }
      return documentOf(request, models === undefined ? {} : { models })
    }
    const model = { object: 'model', created: 1_767_225_600, owned_by: 'stand-in' }
    expect(listed(undefined)).toEqual({ object: 'list', data: [{ id: 'stand-in', ...model }] })
    expect(listed(['a', 'b'])).toEqual({
      ...{ object: 'list', data: ['a', 'b'].map((id) => ({ id, ...model })) },
    })
    const created_at = '2026-01-01T00:00:00.000Z'
    expect(listed(['a', 'b'], ANTHROPIC)).toEqual({
      data: ['a', 'b'].map((id) => ({ type: 'model', id, display_name: id, created_at })),
      ...{ has_more: false, first_id: 'a', last_id: 'b' },
    })
    expect(listed([], ANTHROPIC)).toEqual({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    })
  })

  it('counts the tokens of a prompt', () => {
    const { texts, ...rest } = answerTo({
      ...{ path: '/v1/messages/count_tokens', headers: ANTHROPIC, body: said('x'.repeat(400)) },
    })
    expect(texts).toEqual(['{"input_tokens":101}'])
    expect(rest).toEqual({ status: 200, headers: JSON_HEADERS, inputTokens: 101, tokens: [0] })
  })

  it('compacts a conversation to every user message and one sealed item', () => {
    const input = [
      { role: 'user', content: 'The code word is PELICAN.' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Noted.' }] },
      { role: 'user', id: 'msg_own', content: [{ type: 'input_text', text: 'And so on.' }] },
      { role: 'user', content: 'More.' },
    ]
    const body = { model: 'm', input }
    const { status, inputTokens } = answerTo({ path: '/v1/responses/compact', body })
    expect([status, inputTokens > 5]).toEqual([200, true])
    const document = documentOf({ path: '/v1/responses/compact', body })
    const { output, usage, ...rest } = document as { output: JsonObject[]; usage: JsonObject }
    expect(rest).toEqual({
      ...{ id: expect.stringMatching(/^resp_/), object: 'response.compaction' },
      created_at: 1_767_225_600,
    })
    const [first, second, third, item] = output
    const whole = { type: 'message', status: 'completed', role: 'user' }
    const code = [{ type: 'input_text', text: 'The code word is PELICAN.' }]
    expect(first).toEqual({ id: expect.stringMatching(/^msg_/), ...whole, content: code })
    expect(second).toEqual({ id: 'msg_own', ...whole, content: input[2]?.content })
    expect(third).toEqual({
      id: expect.stringMatching(/^msg_/),
      ...whole,
      content: [{ type: 'input_text', text: 'More.' }],
    })
    expect(first?.['id']).not.toBe(third?.['id'])
    const sealed = String(item?.['encrypted_content'])
    const summary = Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString()
    expect(summary).toContain('PELICAN')
    expect(item).toEqual({
      ...{
        id: expect.stringMatching(/^cmp_/),
        type: 'compaction',
        encrypted_content: seal(summary),
      },
    })
    const output_tokens = Math.ceil(summary.length / 4)
    expect(usage).toMatchObject({
      ...{ input_tokens: inputTokens, output_tokens, total_tokens: inputTokens + output_tokens },
      output_tokens_details: { reasoning_tokens: 0 },
    })
    const one = documentOf({ path: '/v1/responses/compact', body: { model: 'm', input: 'Hello.' } })
    expect(one['output']).toMatchObject([
      { ...whole, content: [{ type: 'input_text', text: 'Hello.' }] },
      { type: 'compaction' },
    ])
  })
})

describe('a fault', () => {
  it('is a status, a page or the answer to somebody else', () => {
    const thrown = (request: Request, options?: RespondOptions) => {
      try {
        return answerTo(request, options)
      } catch (error) {
        return { message: (error as Error).message, status: (error as { status?: number }).status }
      }
    }
    const status = { kind: 'status', code: 503 } as const
    expect(thrown({ fault: status })).toEqual({
      ...{ message: 'The stand-in plays status 503.', status: 503 },
    })
    expect(thrown({ body: said('fail: 429') })).toEqual({
      ...{ message: 'The stand-in plays status 429.', status: 429 },
    })
    expect(thrown({ fault: { kind: 'html' } })).toEqual({
      ...{ status: 200, inputTokens: 0, tokens: [0] },
      headers: { 'content-type': 'text/html; charset=utf-8', ...IDENTITY },
      texts: ['<!doctype html>\n<title>Sign in</title>\n<p>Please sign in to continue.</p>\n'],
    })
    expect(thrown({ path: '/v1/nothing' })).toEqual({
      ...{ message: 'Invalid URL (POST /v1/nothing)', status: 404 },
    })
    expect(thrown({ body: null })).toEqual({ message: 'The request has no body.', status: 400 })
    const torn = { ...entryOf({}), body: 7 } as unknown as JournalEntry
    expect(() => respond(findEndpoint(torn), torn, {})).toThrow(
      'We could not parse the JSON body of your request.',
    )
  })

  it('mixes an answer up with that to another request', () => {
    const headers = { 'x-client-request-id': 'mine' }
    const mixed = answerTo({ headers, fault: { kind: 'other-request' } })
    expect(mixed.headers).toEqual({
      ...{ ...JSON_HEADERS, 'x-request-id': 'req_standin_another' },
      ...{ 'request-id': 'req_standin_another', 'x-client-request-id': 'another' },
    })
    const [own, other] = [documentOf({}), JSON.parse(mixed.texts.join('')) as JsonObject]
    expect([own['model'], other['model']]).toEqual(['m', 'another-model'])
    expect(own['id']).not.toBe(other['id'])
  })

  it('refuses what overflows the window of a model', () => {
    const body = said('x'.repeat(400))
    const refused = (windowTokens: RespondOptions['windowTokens'], fault?: Partial<Fault>) => {
      try {
        answerTo(
          { body, ...(fault !== undefined && { fault }) },
          windowTokens === undefined ? {} : { windowTokens },
        )
        return null
      } catch (error) {
        return (error as Error).message.match(/\d+/g)?.map(Number)
      }
    }
    expect(refused(101)).toBeNull()
    expect(refused(100)).toEqual([100, 101])
    expect(refused((model) => (model === 'm' ? 98 : undefined))).toEqual([98, 101])
    expect(refused(() => undefined)).toBeNull()
    expect(refused(undefined, { kind: 'context-overflow' })).toEqual([100, 101])
  })

  it.each([
    ['overflow', 0.5, 'maximum context length'],
    ['overload', 0, 'The stand-in plays an overloaded provider.'],
  ])('ends a stream with an error (%s)', (what, after, message) => {
    const body = said('say One. Two.', { stream: true })
    const sound = answerTo({ body }).texts
    const { texts } = answerTo({ body, fault: { kind: 'stream-error', what, after } as never })
    const begun = sound.slice(0, Math.floor(sound.length * after))
    expect(texts.slice(0, -1)).toEqual(begun)
    expect(texts.at(-1)).toContain(message)
    expect(sound.at(-1)).not.toContain(message)
  })

  it('may say when to come again', () => {
    const reject = (fault?: Partial<Fault>) => {
      const entry = entryOf(fault === undefined ? {} : { fault })
      const rejection = { status: 429, message: 'Later.' } as never
      const { frames, ...rest } = respondWithError(findEndpoint(entry), rejection, entry)
      return { ...rest, tokens: frames.map(({ tokens }) => tokens) }
    }
    const plain = { status: 429, headers: JSON_HEADERS, inputTokens: 0, tokens: [0] }
    expect(reject()).toEqual(plain)
    expect(reject({ kind: 'status', code: 429 })).toEqual(plain)
    expect(reject({ kind: 'drip', retryAfter: '7' } as never)).toEqual(plain)
    expect(reject({ kind: 'status', code: 429, retryAfter: '7' } as never)).toEqual({
      ...{ ...plain, headers: { ...JSON_HEADERS, 'retry-after': '7' } },
    })
  })
})
