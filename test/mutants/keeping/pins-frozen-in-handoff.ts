import { type Mutant, plantStore } from '../mutant.ts'

export const pinsFrozenInHandoff: Mutant = {
  name: 'pins-frozen-in-handoff',
  seed: 23,
  story: 'Contexts show the pins as they were when the handoff was made.',
  plant: (sound) =>
    plantStore(sound, (store) => ({
      readContext: async (query) => {
        const source = await store.readContext(query)
        if (source === null || source.effective === 0) return source
        const entries = source.entries.filter(
          (entry) => entry.kind !== 'pin' || entry.number <= source.effective,
        )
        return { ...source, entries }
      },
    })),
}
