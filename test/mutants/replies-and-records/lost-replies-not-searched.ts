import { type Mutant, plantStore } from '../mutant.ts'

export const lostRepliesNotSearched: Mutant = {
  name: 'lost-replies-not-searched',
  story: 'Nobody looks for replies whose claim was lost or that a jumped clock put off.',
  seed: 615,
  plant: (sound) => plantStore(sound, () => ({ listReplies: async () => [] })),
}
