import { type Mutant, plantDecisions } from '../mutant.ts'

export const turnWaitsForModel: Mutant = {
  name: 'turn-waits-for-model',
  story: 'A turn whose next step does not fit waits until a model has written the summary.',
  seed: 26,
  plant: (sound) => plantDecisions(sound, { waitsForModel: () => true }),
}
