import { type Mutant, plantStore } from '../mutant.ts'

export const hugeEntriesNotClipped: Mutant = {
  name: 'huge-entries-not-clipped',
  story: 'An input larger than the window is shown whole, and no compaction ever makes room.',
  plant: (sound) =>
    plantStore(sound, (store) => ({
      findSession: async (id) => {
        const row = await store.findSession(id)
        if (row === undefined) return undefined
        return { ...row, limits: { ...row.limits, inputTokens: 1e9, stepTokens: 1e9 } }
      },
    })),
}
