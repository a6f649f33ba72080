import { entryNumber } from '../../../packages/core/src/base/ids.ts'
import { type Mutant, plantRule } from '../mutant.ts'

export const forkOneEntryShort: Mutant = {
  name: 'fork-one-entry-short',
  story: 'A fork lacks the entry it was asked to begin behind.',
  plant: (sound) =>
    plantRule(sound, 'fork', (rule) => (rows, request, stamp) => {
      const at = entryNumber(Math.max(1, request.at - 1))
      return rule(rows, { ...request, at }, stamp)
    }),
}
