import { type Mutant, plantStore } from '../mutant.ts'

export const contextLosesFirstOfTail: Mutant = {
  name: 'context-loses-first-of-tail',
  story: 'The entry right behind the covered range falls out of the context.',
  plant: (sound) =>
    plantStore(sound, (store) => ({
      readContext: async (query) => {
        const source = await store.readContext(query)
        if (source === null || source.effective === 0) return source
        const lost = source.entries.find(
          (entry) => entry.number > source.covers && entry.kind === 'input',
        )
        return { ...source, entries: source.entries.filter((entry) => entry !== lost) }
      },
    })),
}
