import { type Mutant, plantRule } from '../mutant.ts'

export const failureIsNotNeutral: Mutant = {
  name: 'failure-is-not-neutral',
  story: 'A failed compaction leaves the context without its handoff.',
  plant: (sound) =>
    plantRule(sound, 'failCompaction', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const sessions = ruling.change?.sessions?.map(({ before, after }) => ({
        before,
        after: { ...after, base: after.tail },
      }))
      return sessions === undefined ? ruling : { ...ruling, change: { ...ruling.change, sessions } }
    }),
}
