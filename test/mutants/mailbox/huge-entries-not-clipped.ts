import { type Mutant, plantLook } from '../mutant.ts'

export const hugeEntriesNotClipped: Mutant = {
  name: 'huge-entries-not-clipped',
  story: 'An input larger than the window is shown whole, and no compaction ever makes room.',
  plant: (sound) =>
    plantLook(sound, (row) => ({
      ...row,
      limits: { ...row.limits, inputTokens: 1e9, stepTokens: 1e9 },
    })),
}
