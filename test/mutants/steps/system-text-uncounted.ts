import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const systemTextUncounted: Mutant = {
  name: 'system-text-uncounted',
  story: 'A pin is judged as if the system text beside it took no room.',
  seed: 207,
  plant: (sound) =>
    plantRule(sound, 'pin', (rule) => (rows, request, stamp) => {
      const bare = rowsWith(rows, { entry: () => undefined })
      return rule(bare, request, stamp)
    }),
}
