import { type Mutant, plantRule } from '../mutant.ts'

export const erasureLeavesReplies: Mutant = {
  name: 'erasure-leaves-replies',
  story: 'An erased answer stays in the outbox.',
  plant: (sound) =>
    plantRule(sound, 'eraseEntries', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const erase = ruling.change?.erase
      if (erase === undefined) return ruling
      const { replies: _, ...change } = ruling.change ?? {}
      return {
        ...ruling,
        change: { ...change, erase: erase.map((each) => ({ ...each, replies: [] })) },
      }
    }),
}
