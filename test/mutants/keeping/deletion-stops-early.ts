import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const deletionStopsEarly: Mutant = {
  name: 'deletion-stops-early',
  story: 'A deleted session is called gone while its mail is still there.',
  plant: (sound) =>
    plantRule(sound, 'eraseSome', (rule) => (rows, request, stamp) => {
      const remainingRows = (...asked: Parameters<typeof rows.remainingRows>) => ({
        ...rows.remainingRows(...asked),
        mail: [],
      })
      return rule(rowsWith(rows, { remainingRows }), request, stamp)
    }),
}
