import { type Mutant, plantRule } from '../mutant.ts'

export const erasureLeavesMail: Mutant = {
  name: 'erasure-leaves-mail',
  story: 'An erased message stays in the mailbox that it came by.',
  plant: (sound) =>
    plantRule(sound, 'eraseEntries', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const erase = ruling.change?.erase
      if (erase === undefined) return ruling
      return {
        ...ruling,
        change: { ...ruling.change, erase: erase.map((each) => ({ ...each, mail: [] })) },
      }
    }),
}
