import type { SessionRow } from '../../../packages/core/src/store/tables/rows.ts'
import { type Mutant, plantRule, rowsWith, sessionWith } from '../mutant.ts'

export const twoCompactionsAtOnce: Mutant = {
  name: 'two-compactions-at-once',
  story: 'A second claim does not look for the first.',
  plant: (sound) =>
    plantRule(sound, 'claimCompaction', (rule) => (rows, request, stamp) => {
      const alone = (row: SessionRow): SessionRow => ({ ...row, operation: null })
      return rule(rowsWith(rows, sessionWith(rows, alone)), request, stamp)
    }),
}
