import { type Mutant, plantStore } from '../mutant.ts'

export const noCapOnPoisonTurns: Mutant = {
  name: 'no-cap-on-poison-turns',
  story: 'A turn that ends its process is taken up again for ever.',
  plant: (sound) =>
    plantStore(sound, (store) => ({
      recover: (request) => store.recover({ ...request, attemptsMax: 1e9, lossesMax: 1e9 }),
    })),
}
