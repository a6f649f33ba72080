import { type Mutant, plantRule } from '../mutant.ts'

export const erasureLeavesHandoffs: Mutant = {
  name: 'erasure-leaves-handoffs',
  story: 'Handoffs that tell of an erased entry keep their text.',
  plant: (sound) =>
    plantRule(sound, 'eraseEntries', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const erase = ruling.change?.erase
      if (erase === undefined) return ruling
      const { entries } = request
      return {
        ...ruling,
        change: { ...ruling.change, erase: erase.map((each) => ({ ...each, entries })) },
      }
    }),
}
