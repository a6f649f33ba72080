import { type Mutant, plantDecisions } from '../mutant.ts'

export const anyHandoffAccepted: Mutant = {
  name: 'any-handoff-accepted',
  seed: 12,
  story: 'Whatever the writer gives is installed.',
  plant: (sound) => plantDecisions(sound, { judgeHandoff: () => null }),
}
