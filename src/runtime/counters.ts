import type { Counters } from '../compaction/counters.ts'
import { messageCounter } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { ModelFamily } from '../tokens/family.ts'

const known = new Map<ModelFamily, Counters>()

/** How a family's tokens are counted; the same object for the same family. */
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
