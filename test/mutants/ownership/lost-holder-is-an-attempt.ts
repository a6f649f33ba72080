import { type Mutant, plantRule } from '../mutant.ts'

export const lostHolderIsAnAttempt: Mutant = {
  name: 'lost-holder-is-an-attempt',
  seed: 20,
  story: 'A turn whose process was killed or stalled is given up as soon as one that failed.',
  plant: (sound) =>
    plantRule(sound, 'recover', (rule) => (rows, request, stamp) => {
      return rule(rows, { ...request, lossesMax: request.attemptsMax }, stamp)
    }),
}
