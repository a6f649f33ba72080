import { type Mutant, plantRule } from '../mutant.ts'

export const auditInSecondTransaction: Mutant = {
  name: 'audit-in-second-transaction',
  story: 'The audit row of a claim is written after the claim, if the process lives.',
  plant: (sound) =>
    plantRule(sound, 'claimCompaction', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      return ruling.change === undefined
        ? ruling
        : { ...ruling, change: { ...ruling.change, audit: [] } }
    }),
}
