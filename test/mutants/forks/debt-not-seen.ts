import { type Mutant, plantStore } from '../mutant.ts'

export const debtNotSeen: Mutant = {
  name: 'debt-not-seen',
  story: 'A session goes on without naming what another one erased from it.',
  plant: (sound) =>
    plantStore(sound, (store) => ({
      findSession: async (id) => {
        const row = await store.findSession(id)
        return row && { ...row, owed: [] }
      },
    })),
}
