import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const copiesNotErased: Mutant = {
  name: 'copies-not-erased',
  story: 'An erasure reaches forks, but no imported copy of the same entry.',
  seed: 18,
  plant: (sound) =>
    plantRule(sound, 'eraseEntries', (rule) => (rows, request, stamp) => {
      const related = (root: Parameters<typeof rows.related>[0]) =>
        rows.related(root).map((row) => ({ ...row, birth: 'created' }) as const)
      const session = (id: Parameters<typeof rows.session>[0]) => {
        const row = rows.session(id)
        return row && ({ ...row, birth: 'created' } as const)
      }
      return rule(rowsWith(rows, { related, session }), request, stamp)
    }),
}
