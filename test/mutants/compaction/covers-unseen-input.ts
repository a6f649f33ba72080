import { type Mutant, plantDecisions, plantRule, rowsWith, sessionWith } from '../mutant.ts'

export const coversUnseenInput: Mutant = {
  name: 'covers-unseen-input',
  story: 'A request is summarized before any model has seen it.',
  plant: (sound) =>
    plantRule(
      plantDecisions(sound, {
        planCover: (view, trigger, settings) => {
          const covers = sound.decisions.planCover(view, trigger, settings)
          return covers === null ? null : view.session.tail
        },
      }),
      'claimCompaction',
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
