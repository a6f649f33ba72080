import type { SessionRow } from '../../../packages/core/src/store/tables/rows.ts'
import { atTail, type Mutant, plantRule, rowsWith, sessionWith } from '../mutant.ts'

export const recoveryRepeated: Mutant = {
  name: 'recovery-repeated',
  story: 'Recovery is not written down, so it is done again after a lost answer.',
  seed: 549,
  plant: (sound) =>
    plantRule(sound, 'recover', (rule) => (rows, request, stamp) => {
      const fresh = (row: SessionRow): SessionRow => ({ ...row, recovered: -1 })
      return rule(rowsWith(rows, sessionWith(rows, fresh)), atTail(rows, request), stamp)
    }),
}
