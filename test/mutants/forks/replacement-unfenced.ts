import { type Mutant, plantRule } from '../mutant.ts'

export const replacementUnfenced: Mutant = {
  name: 'replacement-unfenced',
  story: 'A handoff that was written before more was erased elsewhere is installed all the same.',
  seed: 282,
  plant: (sound) =>
    plantRule(sound, 'eraseEntries', (rule) => (rows, request, stamp) => {
      const owed = rows.session(request.lease.sessionId)?.owed ?? []
      return rule(rows, { ...request, owed }, stamp)
    }),
}
