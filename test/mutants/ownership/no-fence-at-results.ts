import { asHolder, type Mutant, plantRule, rowsWith, sessionWith } from '../mutant.ts'

export const noFenceAtResults: Mutant = {
  name: 'no-fence-at-results',
  seed: 30,
  story: 'Results are committed whoever brings them, for whichever calls.',
  plant: (sound) =>
    plantRule(sound, 'commitResults', (rule) => (rows, request, stamp) => {
      const openCalls = request.results.map((result) => result.call)
      const open = sessionWith(rows, (row) => ({ ...row, openCalls }))
      return rule(rowsWith(rows, open), asHolder(rows, request), stamp)
    }),
}
