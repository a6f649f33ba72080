import { type Mutant, plantRule, rowsWith, sessionWith } from '../mutant.ts'

export const recordInsideATurn: Mutant = {
  name: 'record-inside-a-turn',
  story: 'The turn of another program comes between the steps of one that runs here.',
  plant: (sound) =>
    plantRule(sound, 'recordEntries', (rule) => (rows, request, stamp) => {
      const atRest = sessionWith(rows, (row) => ({ ...row, turnState: 'idle', openCalls: [] }))
      return rule(rowsWith(rows, atRest), request, stamp)
    }),
}
