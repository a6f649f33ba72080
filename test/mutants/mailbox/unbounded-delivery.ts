import type { SessionRow } from '../../../packages/core/src/store/tables/rows.ts'
import { type Mutant, plantDecisions, plantRule, rowsWith, sessionWith } from '../mutant.ts'

export const unboundedDelivery: Mutant = {
  name: 'unbounded-delivery',
  story: 'Everything that waits is delivered at once.',
  plant: (sound) =>
    plantRule(
      plantDecisions(sound, {
        pickDelivery: (view) =>
          sound.decisions.pickDelivery({ ...view, session: endless(view.session) }),
      }),
      'deliver',
      (rule) => (rows, request, stamp) =>
        rule(rowsWith(rows, sessionWith(rows, endless)), request, stamp),
    ),
}

function endless(row: SessionRow): SessionRow {
  return { ...row, limits: { ...row.limits, inputTokens: 1e9 } }
}
