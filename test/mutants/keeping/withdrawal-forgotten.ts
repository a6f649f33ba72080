import { type Mutant, plantRule } from '../mutant.ts'

export const withdrawalForgotten: Mutant = {
  name: 'withdrawal-forgotten',
  story: 'A withdrawal is acknowledged and not written.',
  plant: (sound) =>
    plantRule(sound, 'withdraw', (rule) => (rows, request, stamp) => {
      const { outcome } = rule(rows, request, stamp)
      return { outcome }
    }),
}
