import { type Mutant, plantStore } from '../mutant.ts'

export const dismissedTooEarly: Mutant = {
  name: 'dismissed-too-early',
  story: 'A challenger does not wait for the whole lease.',
  plant: (sound) =>
    plantStore(sound, (store) => ({
      listRunners: async () => {
        const rows = await store.listRunners()
        return rows.map((row) => ({ ...row, leaseMs: row.leaseMs / 10 }))
      },
    })),
}
