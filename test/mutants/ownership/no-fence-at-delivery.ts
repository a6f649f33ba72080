import { asHolder, type Mutant, plantRule } from '../mutant.ts'

export const noFenceAtDelivery: Mutant = {
  name: 'no-fence-at-delivery',
  story: 'Input enters the transcript whoever delivers it.',
  seed: 33,
  plant: (sound) =>
    plantRule(
      sound,
      'deliver',
      (rule) => (rows, request, stamp) => rule(rows, asHolder(rows, request), stamp),
    ),
}
