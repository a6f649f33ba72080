import { type Mutant, plantRule } from '../mutant.ts'

export const failedInputStaysUnseen: Mutant = {
  name: 'failed-input-stays-unseen',
  story:
    'The input of a turn that was given up begins the next turn, and that one is given up too.',
  plant: (sound) =>
    plantRule(sound, 'recover', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const sessions = ruling.change?.sessions?.map(({ before, after }) => ({
        before,
        after: { ...after, seen: before?.seen ?? after.seen },
      }))
      return sessions === undefined ? ruling : { ...ruling, change: { ...ruling.change, sessions } }
    }),
}
