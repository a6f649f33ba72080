import { expect, it } from 'vitest'
import type { ProviderName } from './names.ts'
import { openProvider } from './open.ts'
import type { ProviderCall, ProviderPart } from './provider.ts'

/** What a call sends, and the parts of an answer of the given kind. */
async function call(
  provider: ProviderName,
  more: Partial<ProviderCall> = {},
  answer = () => new Response('{"error":{"message":"no"}}', { status: 400 }),
) {
  const sent: { url: string; headers: Headers; body: Record<string, unknown> }[] = []
  const stream = await openProvider({
    route: {
      ...{ name: 'main', provider, model: 'm', baseUrl: 'http://127.0.0.1:1/v1/' },
      ...{ credential: { kind: 'none' }, headers: { 'x-own': 'route' } },
    },
    ...{ credential: 'key-1', placeholder: 'PLACE', headers: { 'x-call': 'call' } },
    ...{ tools: [], wantsEvents: true },
    fetch: async (url, init) => {
      const body = JSON.parse(String(init?.body)) as Record<string, unknown>
      sent.push({ url: String(url), headers: new Headers(init?.headers), body })
      return answer()
    },
    ...more,
  })
  const parts: ProviderPart[] = []
  await stream.run((part) => void parts.push(part))
  return { sent: sent[0], requests: sent.length, parts }
}

const PARAMETERS = { type: 'object', properties: {} }
const tools = [
  { name: 'look', description: 'Looks.', inputSchema: PARAMETERS },
  { name: 'bare', inputSchema: PARAMETERS },
]
const chatTools = [
  { type: 'function', function: { name: 'look', description: 'Looks.', parameters: PARAMETERS } },
  { type: 'function', function: { name: 'bare', parameters: PARAMETERS } },
]
const looseTools = tools.map(({ inputSchema: parameters, ...rest }) => ({
  ...{ type: 'function', ...rest, parameters, strict: false },
}))

it.each<[ProviderName, string, readonly [string, string | null], string, unknown]>([
  ['openai-chat', '/v1/chat/completions', ['authorization', 'Bearer key-1'], 'tools', chatTools],
  [
    'openai-compatible',
    '/v1/chat/completions',
    ['authorization', 'Bearer key-1'],
    'tools',
    chatTools,
  ],
  ['openai-responses', '/v1/responses', ['authorization', 'Bearer key-1'], 'tools', looseTools],
  ['codex', '/v1/responses', ['authorization', 'Bearer key-1'], 'tools', looseTools],
  [
    'anthropic',
    '/v1/messages',
    ['x-api-key', 'key-1'],
    'tools',
    [
      { name: 'look', description: 'Looks.', input_schema: PARAMETERS },
      { name: 'bare', input_schema: PARAMETERS },
    ],
  ],
])('%s is asked at its address with its key, our headers and the tools', async (...row) => {
  const [provider, path, [header, value], member, expected] = row
  const { sent, requests } = await call(provider, { tools })
  expect(requests).toBe(1)
  expect(sent?.url).toBe(`http://127.0.0.1:1${path}`)
  expect(sent?.headers.get(header)).toBe(value)
  expect([sent?.headers.get('x-own'), sent?.headers.get('x-call')]).toEqual(['route', 'call'])
  expect(sent?.body[member]).toEqual(expected)
  expect(JSON.stringify(sent?.body)).toContain('PLACE')
  expect((await call(provider)).sent?.body['tools']).toBeUndefined()
})

it('google is asked with its key in a header', async () => {
  const { sent } = await call('google')
  expect(sent?.url).toMatch(/^http:\/\/127\.0\.0\.1:1\/v1\/models\/m:streamGenerateContent/)
  expect(sent?.headers.get('x-goog-api-key')).toBe('key-1')
})

it('without a key a dummy is sent to providers whose package requires one, and none to others', async () => {
  const keyOf = async (provider: ProviderName) =>
    (await call(provider, { credential: '' })).sent?.headers.get('authorization')
  expect(await keyOf('openai-chat')).toBe('Bearer none')
  expect(await keyOf('openai-compatible')).toBeNull()
})

const CHUNKS = [
  { id: 'c', choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: null }] },
  { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { id: 'c', choices: [], usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } },
]
const lines = CHUNKS.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
const answer = () =>
  new Response(`${lines.join('')}data: [DONE]\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  })

it('an answer is its events, its text and its end with the usage that was asked for', async () => {
  const { sent, parts } = await call('openai-compatible', {}, answer)
  expect(sent?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  expect(
    parts.filter(({ kind }) => kind === 'event').map((part) => 'event' in part && part.event),
  ).toEqual(CHUNKS)
  expect(parts.filter(({ kind }) => kind !== 'event')).toEqual([
    { kind: 'text', text: 'Hi.' },
    {
      ...{ kind: 'finish', finish: 'stop', raw: 'stop', contextTokens: 7 },
      usage: { inputTokens: 7, outputTokens: 2, cacheReadTokens: 0, reasoningTokens: 0 },
    },
  ])
  const quiet = await call('openai-compatible', { wantsEvents: false }, answer)
  expect(quiet.parts.map(({ kind }) => kind)).toEqual(['text', 'finish'])
})

it('a refusal is one part with its facts, and none if only the wire knows', async () => {
  const { parts } = await call('openai-chat')
  expect(parts).toEqual([
    { kind: 'complaint', complaint: expect.objectContaining({ status: 400 }) },
  ])
  const lost = await call('openai-chat', {}, () => {
    throw new Error('reset')
  })
  expect(lost.parts).toEqual([])
})
