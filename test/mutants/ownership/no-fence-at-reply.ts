import { asHolder, type Mutant, plantRule } from '../mutant.ts'

export const noFenceAtReply: Mutant = {
  name: 'no-fence-at-reply',
  story: 'A reply is committed whoever brings it.',
  seed: 143,
  plant: (sound) =>
    plantRule(
      sound,
      'commitReply',
      (rule) => (rows, request, stamp) => rule(rows, asHolder(rows, request), stamp),
    ),
}
