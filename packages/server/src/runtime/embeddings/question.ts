import type { Clock } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import { phrasesIn } from '#core/store/search/filter'
import type { Embedder } from '../../model/embeddings/embedder.ts'
import type { EmbedQuestion } from '../../tools/embedded-question.ts'

/** How long a search waits for the vector of its question; then it continues by words alone. */
export const QUESTION_MS = 300
/** A long question states its subject at the beginning. */
const QUESTION_CHARACTERS_MAX = 2_000

/** Without an embedder, and where a text must occur exactly, nothing is sent. */
export function questionEmbedder(embedder: Embedder | undefined, clock: Clock): EmbedQuestion {
  return async (question) => {
    const text = question.text.slice(0, QUESTION_CHARACTERS_MAX)
    if (embedder === undefined || text.trim() === '' || phrasesIn(question).length > 0) return {}
    const { model, host } = embedder
    const late = new AbortController()
    const cancel = clock.after(QUESTION_MS, () => {
      late.abort(new LateError(`${host} did not answer within ${QUESTION_MS / 1_000} s`))
    })
    try {
      const [vector] = await inTime(embedder.embed([text], late.signal), late.signal)
      return vector === undefined ? {} : { meaning: { model, vector } }
    } catch (error) {
      const why = error instanceof KnownError ? error.message : `${host} cannot be asked`
      return { note: `Searched by words alone: ${why.replace(/\.$/, '')}.` }
    } finally {
      cancel()
    }
  }
}

class LateError extends KnownError {
  override readonly name = 'LateError'
  readonly code = 'embedding-late'
  readonly retryable = true
}

/** Also ends on time if the embedder does not heed the signal at once. */
async function inTime<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const end = () => late.reject(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([work, late.promise])
  } finally {
    signal.removeEventListener('abort', end)
  }
}
