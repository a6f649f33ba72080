import type { Dispatcher } from 'undici'
import { KnownError } from '#core/base/errors'
import { isArray, type JsonValue } from '#core/base/json'
import { loadConnections, Pool } from '../connections/pool.ts'
import { type CredentialSource, Credentials, type Environment } from '../routes/credential.ts'
import { EMBEDDING_WIRES, type EmbeddingProvider } from './wire.ts'

/** A route to a model that turns texts into vectors. */
export interface EmbeddingRoute {
  readonly provider: EmbeddingProvider
  readonly baseUrl: string
  readonly model: string
  readonly credential: CredentialSource
}

/** Turns texts into vectors. Its errors name the host and never a text. */
export interface Embedder {
  readonly model: string
  /** Who receives the texts. */
  readonly host: string
  /** One vector for each text, all of the same length. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>
  close(): Promise<void>
}

export class EmbeddingError extends KnownError {
  override readonly name = 'EmbeddingError'
  readonly code = 'embedding-failed'
  readonly retryable = true
  /** The host will not embed this text; another one it may. */
  readonly isRefusal: boolean

  constructor(message: string, { isRefusal = false } = {}) {
    super(message)
    this.isRefusal = isRefusal
  }
}

const REFUSALS = [400, 413, 422]

const ANSWER_BYTES_MAX = 64 * 1024 * 1024
const DIMENSION_MAX = 16_384

export function openEmbedder(route: EmbeddingRoute, environment: Environment): Embedder {
  // Now, because a question has no time for it.
  const { request } = loadConnections()
  const pool = new Pool({ environment })
  const credentials = new Credentials(environment)
  const { provider, model, credential } = route
  const wire = EMBEDDING_WIRES[provider]
  const url = new URL(`${route.baseUrl.replace(/\/$/, '')}${wire.path(model)}`)
  const { host } = url

  const send = async (body: JsonValue, key: string | undefined, signal: AbortSignal) => {
    const loan = pool.loan({ origin: url.origin, route: 'embeddings', purpose: 'embeddings' })
    try {
      const answer = await request(url, {
        // Every line of the pool is a dispatcher of undici; its type lists what the pool needs.
        ...{ dispatcher: loan.dispatcher as unknown as Dispatcher, method: 'POST', signal },
        headers: {
          'content-type': 'application/json',
          ...(key !== undefined && wire.header(key)),
        },
        body: JSON.stringify(body),
      })
      return { status: answer.statusCode, text: await textOf(answer.body) }
    } catch (error) {
      loan.evict()
      if (signal.aborted) throw signal.reason
      if (error instanceof KnownError) throw error
      throw new EmbeddingError(`${host} cannot be reached`)
    } finally {
      loan.release()
    }
  }

  const embed: Embedder['embed'] = async (texts, signal) => {
    const body = wire.body(model, texts)
    const read = async () =>
      credential.kind === 'none' ? undefined : await credentials.read(credential)
    let key = await read()
    let answer = await send(body, key, signal)
    if (answer.status === 401 && (await credentials.renew(credential, key))) {
      key = await read()
      answer = await send(body, key, signal)
    }
    if (answer.status !== 200) {
      const isRefusal = REFUSALS.includes(answer.status)
      throw new EmbeddingError(`${host} answered ${answer.status}`, { isRefusal })
    }
    return vectorsIn(wire.vectors(parsed(answer.text)), texts.length, host)
  }
  return { model, host, embed, close: () => pool.close() }
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new EmbeddingError('The answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return null
  }
}

function vectorsIn(found: readonly unknown[], count: number, host: string): Float32Array[] {
  const vectors = found.map((each) => (isArray(each) ? Float32Array.from(each as number[]) : null))
  const [first] = vectors
  const dimension = first?.length ?? 0
  const isWhole = vectors.every(
    (vector) => vector?.length === dimension && vector.every(Number.isFinite),
  )
  if (vectors.length !== count || dimension < 1 || dimension > DIMENSION_MAX || !isWhole) {
    throw new EmbeddingError(`${host} did not answer with ${count} vectors of one length`)
  }
  return vectors as Float32Array[]
}
