import type { SessionRow } from '../../../packages/core/src/store/tables/rows.ts'
import { type Mutant, plantRule, rowsWith, sessionWith } from '../mutant.ts'

export const openCallsDropped: Mutant = {
  name: 'open-calls-dropped',
  seed: 24,
  story: 'A take-over forgets open calls instead of closing them.',
  plant: (sound) =>
    plantRule(sound, 'recover', (rule) => (rows, request, stamp) => {
      const closed = (row: SessionRow): SessionRow => ({ ...row, openCalls: [] })
      return rule(rowsWith(rows, sessionWith(rows, closed)), request, stamp)
    }),
}
