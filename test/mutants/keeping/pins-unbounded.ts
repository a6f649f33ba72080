import type { SessionRow } from '../../../packages/core/src/store/tables/rows.ts'
import { type Mutant, plantRule, rowsWith, sessionWith } from '../mutant.ts'

export const pinsUnbounded: Mutant = {
  name: 'pins-unbounded',
  seed: 95,
  story: 'Pins are accepted without limit.',
  plant: (sound) =>
    plantRule(sound, 'pin', (rule) => (rows, request, stamp) => {
      const limitless = (row: SessionRow) => ({
        ...row,
        limits: { ...row.limits, pinTokens: 1e9 },
      })
      const ruling = rule(rowsWith(rows, sessionWith(rows, limitless)), request, stamp)
      const limits = rows.session(request.lease.sessionId)?.limits
      const sessions = ruling.change?.sessions?.map(({ before, after }) => ({
        before,
        after: { ...after, limits: limits ?? after.limits },
      }))
      return sessions === undefined ? ruling : { ...ruling, change: { ...ruling.change, sessions } }
    }),
}
