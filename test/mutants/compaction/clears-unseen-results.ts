import { type Mutant, plantDecisions, plantRule, rowsWith, sessionWith } from '../mutant.ts'

export const clearsUnseenResults: Mutant = {
  name: 'clears-unseen-results',
  story: 'A result is shortened before any model has seen it whole.',
  plant: (sound) =>
    plantRule(
      plantDecisions(sound, {
        planClearing: (view, settings) => {
          const planned = sound.decisions.planClearing(view, settings)
          const upto = view.session.tail
          return planned && { ...planned, clears: { ...planned.clears, upto } }
        },
      }),
      'commitCompaction',
      (rule) => (rows, request, stamp) =>
        rule(
          rowsWith(
            rows,
            sessionWith(rows, (row) => ({ ...row, seen: row.tail })),
          ),
          request,
          stamp,
        ),
    ),
}
