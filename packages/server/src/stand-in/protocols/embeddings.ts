import { hash } from 'node:crypto'
import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { Rejection } from './protocol.ts'

/**
 * Embeddings without a model: a text is the sum of the directions of its words. Words of one line
 * below have the same direction, so that texts can be close in meaning without sharing a word.
 */
const CONCEPTS = [
  'dog dogs puppy puppies terrier hound',
  'car cars automobile sedan vehicle roadster',
  'doctor doctors physician surgeon clinic',
  'money salary wage wages pay income',
  'house home apartment flat residence',
  'holiday vacation trip journey travel',
]
const DIMENSION = 256
const WORD = /[\p{L}\p{N}]{3,}/gu
const conceptOf = new Map(
  CONCEPTS.flatMap((line) => line.split(' ').map((word) => [word, line] as const)),
)

export function embedText(text: string): readonly number[] {
  const sum = new Array<number>(DIMENSION).fill(0)
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    const bits = hash('sha256', conceptOf.get(word) ?? word, 'buffer')
    for (let at = 0; at < DIMENSION; at++) {
      const isSet = ((bits[at >> 3] ?? 0) >> (at & 7)) & 1
      sum[at] = (sum[at] ?? 0) + (isSet ? 1 : -1)
    }
  }
  return sum
}

/** The ends of the paths, as OpenAI, Ollama and Gemini have them. */
export const EMBEDDING_PATHS = ['/embeddings', '/api/embed', ':batchEmbedContents'] as const

/** Throws `Rejection`. */
export function respondToEmbed(path: string, body: JsonObject): JsonObject {
  if (path.endsWith(':batchEmbedContents')) {
    const requests = body['requests']
    if (!isArray(requests)) throw new Rejection('requests: a list is expected')
    return { embeddings: requests.map((each) => ({ values: embedText(partsOf(each)) })) }
  }
  const { input, model = 'stand-in' } = body
  const texts = typeof input === 'string' ? [input] : input
  if (!isArray(texts)) throw new Rejection('input: a text or a list of texts is expected')
  const vectors = texts.map((text) => embedText(String(text)))
  if (path.endsWith('/api/embed')) return { model, embeddings: vectors }
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }))
  return { object: 'list', model, data }
}

function partsOf(request: JsonValue): string {
  const content = isObject(request) ? request['content'] : undefined
  const parts = isObject(content) ? content['parts'] : undefined
  if (!isArray(parts)) return ''
  return parts.map((part) => (isObject(part) ? String(part['text'] ?? '') : '')).join(' ')
}
