import { rangeTokens } from '../../../packages/core/src/session/context/budget.ts'
import { type Mutant, plantDecisions } from '../mutant.ts'

export const shrinkJudgedByGrownTail: Mutant = {
  name: 'shrink-judged-by-grown-tail',
  story: 'A handoff is refused because the conversation went on behind it.',
  plant: (sound) =>
    plantDecisions(sound, {
      judgeHandoff: (view, handoff) => {
        const { context, session } = view
        const range = rangeTokens(context, handoff.covers, handoff.carries)
        const after = context.tokens - range + handoff.tokens
        const target = session.limits.hardTokens * sound.settings.targetShare
        return after > target ? 'over-target' : sound.decisions.judgeHandoff(view, handoff)
      },
    }),
}
