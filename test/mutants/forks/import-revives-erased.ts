import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const importRevivesErased: Mutant = {
  name: 'import-revives-erased',
  story: 'A file that was written before an erasure brings the erased words back.',
  seed: 114,
  plant: (sound) =>
    plantRule(
      sound,
      'adoptSession',
      (rule) => (rows, request, stamp) =>
        rule(rowsWith(rows, { erased: () => [] }), request, stamp),
    ),
}
