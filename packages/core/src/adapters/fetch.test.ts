import { afterEach, describe, expect, it, vi } from 'vitest'
import { openAgent } from '../agent/agent.ts'
import { openaiChat } from '../agent/typed-formats/openai.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { chatHandler } from './fetch.ts'

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function open() {
  const store = openMemoryStore()
  const agent = await openAgent({
    ...{ store, name: 'web', format: openaiChat, contextWindow: 32_000 },
    step: ({ delta }) => {
      delta('Hel')
      delta('lo.')
      return { role: 'assistant' as const, content: 'Hello.' }
    },
  })
  opened.push(
    () => store.close(),
    () => agent.close(),
  )
  return chatHandler(agent, {
    sessionOf: (request) => request.headers.get('x-user'),
    bodyBytesMax: 1_000,
  })
}

function request(method: string, body?: unknown, headers: Record<string, string> = {}): Request {
  const json = { 'x-user': 'ana', 'content-type': 'application/json', ...headers }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return new Request('http://localhost/chat', {
    ...{ method, headers: json },
    ...(body !== undefined && { body: text }),
  })
}

/** The events of a stream up to the first of that type. */
async function read(response: Response, until: string): Promise<string> {
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk)
    if (text.includes(`event: ${until}\n`)) break
  }
  return text
}

describe('a chat endpoint', () => {
  it('accepts a message once, and streams its turn from any durable event on', async () => {
    const handle = await open()
    const listening = read(
      await handle(request('GET', undefined, { 'last-event-id': '0' })),
      'turn-ended',
    )
    const message = { text: 'Hi.', key: 'k' }
    const first = await handle(request('POST', message))
    expect(first.status).toBe(202)
    expect(await first.json()).toEqual({ kind: 'sent', mail: 1, isDuplicate: false })
    const again = await handle(request('POST', message))
    expect(await again.json()).toMatchObject({ mail: 1, isDuplicate: true })
    const live = await listening
    expect(live).toMatch(/id: \d+\nevent: turn-ended/)
    expect(live).not.toMatch(/id: \d+\nevent: delta/)
    const ids = [...live.matchAll(/^id: (\d+)$/gm)].map(([, id = '']) => id)
    const resumed = await read(
      await handle(request('GET', undefined, { 'last-event-id': ids.at(-2) ?? '' })),
      'caught-up',
    )
    expect(resumed.match(/^event: .*$/gm)).toEqual(['event: turn-ended', 'event: caught-up'])
    // A page that was loaded again knows no event.
    const page = new Request('http://localhost/chat?after=0', { headers: { 'x-user': 'ana' } })
    const whole = await read(await handle(page), 'caught-up')
    const events = [...whole.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    expect(events.slice(0, 2)).toMatchObject([
      { type: 'message', role: 'user', text: 'Hi.' },
      { type: 'message', role: 'assistant', text: 'Hello.' },
    ])
  })

  it('accepts a body of the maximum size', async () => {
    const largest = request('POST', { text: 'x'.repeat(1_000 - '{"text":""}'.length) })
    expect((await (await open())(largest)).status).toBe(202)
  })

  it('keeps a character whose bytes arrive in two pieces', async () => {
    const handle = await open()
    const bytes = new TextEncoder().encode(JSON.stringify({ text: 'Grüße', key: 'k' }))
    const cut = bytes.indexOf(0xc3) + 1
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes.slice(0, cut))
        controller.enqueue(bytes.slice(cut))
        controller.close()
      },
    })
    const headers = { 'x-user': 'ana', 'content-type': 'application/json' }
    const parts = { method: 'POST', headers, body, duplex: 'half' } as const
    expect((await handle(new Request('http://localhost/chat', parts))).status).toBe(202)
    // The same key with other words would be refused.
    const again = await handle(request('POST', { text: 'Grüße', key: 'k' }))
    expect(await again.json()).toMatchObject({ isDuplicate: true })
  })

  it.each<[number, Request]>([
    [401, new Request('http://localhost/chat')],
    [400, request('POST', { words: 'Hi.' })],
    [400, request('POST', '{')],
    [400, request('POST', { text: 'Hi.', key: 5 })],
    [400, request('POST', { text: 'Hi.', key: '' })],
    [400, request('POST', { text: 'Hi.' }, { 'x-user': 'a b' })],
    [405, request('PUT', {})],
    [413, request('POST', { text: 'x'.repeat(2_000) })],
    [415, request('POST', { text: 'Hi.' }, { 'content-type': 'text/plain' })],
    [413, request('POST', { text: 'x'.repeat(1_001 - '{"text":""}'.length) })],
  ])('answers %d with a code and a sentence', async (status, wrong) => {
    const response = await (await open())(wrong)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({
      error: { code: expect.stringMatching(/^[a-z-]+$/), message: expect.stringMatching(/\.$/) },
    })
  })

  it('clears the timer of a failed stream, which would otherwise crash the process', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const store = openMemoryStore()
      const agent = await openAgent({
        ...{ store, name: 'web', format: openaiChat, contextWindow: 32_000 },
        step: () => ({ role: 'assistant' as const, content: 'Hello.' }),
      })
      const handle = chatHandler(agent, { sessionOf: () => 'ana' })
      const before = vi.getTimerCount()
      await store.close()
      const response = await handle(request('GET'))
      await expect(response.text()).rejects.toThrow()
      expect(vi.getTimerCount()).toBe(before)
      await agent.close()
    } finally {
      vi.useRealTimers()
    }
  })

  it('refuses a key that was used for another message', async () => {
    const handle = await open()
    await handle(request('POST', { text: 'Hi.', key: 'k' }))
    expect((await handle(request('POST', { text: 'Other.', key: 'k' }))).status).toBe(409)
  })
})
