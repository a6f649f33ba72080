import { InvalidRequestError } from '../errors.ts'
import { ownAfter } from '../lineage.ts'
import type { EmbeddedRow } from '../vector-rows.ts'
import type { Rule } from './ruling.ts'

/**
 * Continues where the session's vectors of this model end. Vectors of another model, or of another
 * dimension under the same name, cannot be compared and are removed.
 */
export const putVectors: Rule<'putVectors'> = (rows, request) => {
  const { sessionId, model, dimension, after, upto, vectors } = request
  const isOutside = vectors.some(({ number }) => number <= after || number > upto)
  if (
    isOutside ||
    vectors.some(({ bytes }) => bytes.length === 0 || bytes.length % dimension !== 0)
  ) {
    throw new InvalidRequestError({
      problem: `Vectors must be of entries ${after + 1} to ${upto} and have ${dimension} dimensions.`,
    })
  }
  const session = rows.session(sessionId)
  if (session === undefined) return { outcome: { kind: 'unknown' } }
  const known = rows.embedded(sessionId)
  const isSame = known?.model === model && known.dimension === dimension
  const removed = known === undefined || isSame ? undefined : { vectorsRemoved: sessionId }
  const end = isSame ? known.upto : ownAfter(session)
  if (after !== end || upto <= after || upto > session.tail) {
    return { outcome: { kind: 'stale' }, ...(removed !== undefined && { change: removed }) }
  }
  const living = new Set(rows.livingEntries(sessionId, after, upto))
  const row: EmbeddedRow = { sessionId, model, dimension, upto }
  return {
    outcome: { kind: 'done' },
    change: {
      ...removed,
      embedded: [row],
      vectors: vectors
        .filter(({ number }) => living.has(number))
        .map(({ number, bytes }) => ({ sessionId, number, bytes })),
    },
  }
}
