import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { embedText } from '../../stand-in/protocols/embeddings.ts'
import { standIn } from '../../stand-in/server.ts'
import { type Embedder, openEmbedder } from './embedder.ts'
import { EMBEDDING_PROVIDERS, type EmbeddingProvider } from './wire.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const KEY = { SOME_KEY: 'k-123' }
const { signal } = new AbortController()

function embedderAt(baseUrl: string, provider: EmbeddingProvider): Embedder {
  const credential = { kind: 'variable', name: 'SOME_KEY' } as const
  const embedder = openEmbedder({ provider, baseUrl, model: 'some/model', credential }, KEY)
  closing.push(() => embedder.close())
  return embedder
}

async function opened(provider: EmbeddingProvider) {
  const server = standIn()
  const running = await server.start()
  closing.push(() => running.close())
  return { server, embedder: embedderAt(`${running.url}/base`, provider) }
}

/** A host that always answers the same. */
async function answering(text: string | Buffer, status = 200): Promise<Embedder> {
  const server = createServer((_, response) => response.writeHead(status).end(text))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  return embedderAt(`http://127.0.0.1:${port}`, 'openai')
}

describe('an embedder', () => {
  it.each(EMBEDDING_PROVIDERS)('asks as %s is asked, with the key', async (provider) => {
    const { server, embedder } = await opened(provider)
    const vectors = await embedder.embed(['a dog', 'a car'], signal)
    expect(vectors.map((vector) => [...vector])).toEqual([embedText('a dog'), embedText('a car')])
    const [asked] = server.journal.entries
    const isGoogle = provider === 'google'
    expect(asked?.path).toBe(
      {
        openai: '/base/embeddings',
        'openai-compatible': '/base/embeddings',
        ollama: '/base/api/embed',
        google: '/base/models/some%2Fmodel:batchEmbedContents',
      }[provider],
    )
    expect(asked?.headers[isGoogle ? 'x-goog-api-key' : 'authorization']).toBe(
      isGoogle ? 'k-123' : 'Bearer k-123',
    )
  })

  it('takes vectors in the order that the host numbers them', async () => {
    const data = [
      { index: 1, embedding: [2] },
      { index: 0, embedding: [1] },
    ]
    const embedder = await answering(JSON.stringify({ data }))
    expect((await embedder.embed(['a', 'b'], signal)).map(([value]) => value)).toEqual([1, 2])
  })

  it.each([
    ['too few', { data: [] }],
    ['of different lengths', { data: [{ embedding: [1] }, { embedding: [1, 2] }] }],
    ['empty', { data: [{ embedding: [] }, { embedding: [] }] }],
    ['no numbers', { data: [{ embedding: ['x'] }, { embedding: ['y'] }] }],
    ['no vectors', { error: 'a secret text' }],
  ])('refuses vectors that are %s, and repeats nothing of the answer', async (_, answer) => {
    const embedder = await answering(JSON.stringify(answer))
    const asked = embedder.embed(['a secret text', 'b'], signal)
    await expect(asked).rejects.toThrow(
      /^127\.0\.0\.1:\d+ did not answer with 2 vectors of one length$/,
    )
  })

  it('names the host and the status, and whether the text is at fault', async () => {
    const host = /^127\.0\.0\.1:\d+ answered \d+$/
    const refused = { message: expect.stringMatching(host), isRefusal: true }
    await expect((await answering('a page', 400)).embed(['a'], signal)).rejects.toMatchObject(
      refused,
    )
    const failed = { message: expect.stringMatching(host), isRefusal: false }
    await expect((await answering('a page', 503)).embed(['a'], signal)).rejects.toMatchObject(
      failed,
    )
  })

  it('reads an answer of 64 MiB, and none that is larger', async () => {
    const whole = await answering(Buffer.alloc(64 * 2 ** 20), 503)
    await expect(whole.embed(['a'], signal)).rejects.toThrow('answered 503')
    const larger = await answering(Buffer.alloc(64 * 2 ** 20 + 1), 503)
    await expect(larger.embed(['a'], signal)).rejects.toThrow('The answer is too large')
  })

  it('says that a host cannot be reached', async () => {
    const embedder = embedderAt('http://127.0.0.1:9', 'ollama')
    await expect(embedder.embed(['a'], signal)).rejects.toThrow('127.0.0.1:9 cannot be reached')
  })
})
