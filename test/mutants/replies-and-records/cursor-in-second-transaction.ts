import { type Mutant, plantRule } from '../mutant.ts'

export const cursorInSecondTransaction: Mutant = {
  name: 'cursor-in-second-transaction',
  story: 'Entries are appended in one transaction, the cursor of the mailbox is moved in another.',
  plant: (sound) =>
    plantRule(sound, 'deliver', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const sessions = ruling.change?.sessions?.map(({ before, after }) => ({
        before,
        after: { ...after, delivered: before?.delivered ?? after.delivered },
      }))
      return sessions === undefined ? ruling : { ...ruling, change: { ...ruling.change, sessions } }
    }),
}
