import { isArray, isObject, type JsonValue } from '#core/base/json'

/**
 * How each provider is asked for vectors: a path below its address, a body, the header with the key,
 * and where the vectors stand in the answer.
 */
export interface EmbeddingWire {
  readonly path: (model: string) => string
  readonly body: (model: string, texts: readonly string[]) => JsonValue
  readonly header: (key: string) => Readonly<Record<string, string>>
  /** The vectors in the order of the texts, or what else the answer holds. */
  readonly vectors: (answer: JsonValue) => readonly unknown[]
}

export const EMBEDDING_PROVIDERS = ['openai', 'openai-compatible', 'ollama', 'google'] as const
export type EmbeddingProvider = (typeof EMBEDDING_PROVIDERS)[number]

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const listIn = (answer: JsonValue, name: string): readonly JsonValue[] => {
  const list = isObject(answer) ? answer[name] : undefined
  return isArray(list) ? list : []
}
const fieldOf = (value: JsonValue, name: string) => (isObject(value) ? value[name] : undefined)

const OPENAI: EmbeddingWire = {
  path: () => '/embeddings',
  body: (model, texts) => ({ model, input: [...texts], encoding_format: 'float' }),
  header: bearer,
  vectors: (answer) => {
    const items = listIn(answer, 'data')
    const placeOf = (item: JsonValue) => Number(fieldOf(item, 'index') ?? 0)
    const inOrder = items.toSorted((a, b) => placeOf(a) - placeOf(b))
    return inOrder.map((item) => fieldOf(item, 'embedding'))
  },
}

export const EMBEDDING_WIRES: Readonly<Record<EmbeddingProvider, EmbeddingWire>> = {
  openai: OPENAI,
  'openai-compatible': OPENAI,
  ollama: {
    path: () => '/api/embed',
    body: (model, texts) => ({ model, input: [...texts] }),
    header: bearer,
    vectors: (answer) => listIn(answer, 'embeddings'),
  },
  google: {
    path: (model) => `/models/${encodeURIComponent(model)}:batchEmbedContents`,
    body: (model, texts) => ({
      requests: texts.map((text) => ({
        model: `models/${model}`,
        content: { parts: [{ text }] },
      })),
    }),
    header: (key) => ({ 'x-goog-api-key': key }),
    vectors: (answer) => listIn(answer, 'embeddings').map((each) => fieldOf(each, 'values')),
  },
}
