import { asHolder, type Mutant, plantRule, rowsWith, sessionWith } from './mutant.ts'

export const noFenceAtResults: Mutant = {
  name: 'no-fence-at-results',
  story: 'Results are committed whoever brings them.',
  plant: (sound) =>
    plantRule(
      sound,
      'commitResults',
      (rule) => (rows, request, stamp) => rule(rows, asHolder(rows, request), stamp),
    ),
}
