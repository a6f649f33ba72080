import { type Mutant, plantDecisions, plantRule, rowsWith } from '../mutant.ts'

export const unansweredRequestsCompacted: Mutant = {
  name: 'unanswered-requests-compacted',
  story: 'A compaction inside a turn leaves requests to the handoff that no turn has answered.',
  plant: (sound) =>
    plantRule(
      plantDecisions(sound, {
        carriedBy: () => [],
        judgeHandoff: (view, handoff) => {
          const session = { ...view.session, turnState: 'idle' } as const
          return sound.decisions.judgeHandoff({ ...view, session }, handoff)
        },
      }),
      'commitCompaction',
      (rule) => (rows, request, stamp) =>
        rule(rowsWith(rows, { inputsAfter: () => [] }), request, stamp),
    ),
}
