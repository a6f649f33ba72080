import type { Counters } from '#core/compaction/counters'
import { messageCounter } from '#core/tokens/count'
import { estimateText } from '#core/tokens/estimate'
import type { ModelFamily } from '#core/tokens/family'

const known = new Map<ModelFamily, Counters>()

/** The token counter of a model family; the same object for the same family. */
export function countersOf(family: ModelFamily): Counters {
  let found = known.get(family)
  if (found === undefined) {
    found = {
      countTokens: (text) => estimateText(text, family),
      countMessage: messageCounter(family),
    }
    known.set(family, found)
  }
  return found
}
