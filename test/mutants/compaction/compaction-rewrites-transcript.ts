import { entryNumber } from '../../../packages/core/src/base/ids.ts'
import { type Mutant, plantRule } from '../mutant.ts'

export const compactionRewritesTranscript: Mutant = {
  name: 'compaction-rewrites-transcript',
  story: 'The covered entries are replaced by the summary instead of being represented by it.',
  plant: (sound) =>
    plantRule(sound, 'commitCompaction', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const { sessionId } = request.lease
      const first = rows.entry(sessionId, entryNumber(1))
      if (ruling.change === undefined || first === undefined) return ruling
      const emptied = { sessionId, entry: { ...first, body: 'null' } }
      const entries = [emptied, ...(ruling.change.entries ?? [])]
      return { ...ruling, change: { ...ruling.change, entries } }
    }),
}
