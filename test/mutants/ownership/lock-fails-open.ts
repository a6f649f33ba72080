import type { Rows } from '../../../packages/core/src/store/rules/ruling.ts'
import { everySessionReady, type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const lockFailsOpen: Mutant = {
  name: 'lock-fails-open',
  story: 'When the holder cannot be looked up the session is taken as free.',
  plant: (sound) =>
    plantRule(everySessionReady(sound), 'acquire', (rule) => (rows, request, stamp) => {
      const runner: Rows['runner'] = (id) => (id === request.runner ? rows.runner(id) : undefined)
      return rule(rowsWith(rows, { runner }), request, stamp)
    }),
}
