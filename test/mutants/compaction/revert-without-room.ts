import { type Mutant, plantStore } from '../mutant.ts'

export const revertWithoutRoom: Mutant = {
  name: 'revert-without-room',
  story: 'A compaction is reverted although what comes back does not fit.',
  seed: 41,
  plant: (sound) =>
    plantStore(sound, (store) => ({
      revert: (request) => store.revert({ ...request, tokensAfter: 0 }),
    })),
}
