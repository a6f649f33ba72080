import { type Mutant, plantLook } from '../mutant.ts'

export const debtNotSeen: Mutant = {
  name: 'debt-not-seen',
  story: 'A session goes on without naming what another one erased from it.',
  plant: (sound) => plantLook(sound, (row) => ({ ...row, owed: [] })),
}
