import { type Mutant, plantRule } from '../mutant.ts'

export const baseRisesWithEveryAppend: Mutant = {
  name: 'base-rises-with-every-append',
  story: 'Any append changes the base, so that a busy session can never be compacted.',
  plant: (sound) =>
    plantRule(sound, 'commitReply', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const sessions = ruling.change?.sessions?.map(({ before, after }) => ({
        before,
        after: { ...after, base: after.tail },
      }))
      return sessions === undefined ? ruling : { ...ruling, change: { ...ruling.change, sessions } }
    }),
}
