import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const operationNotAbandoned: Mutant = {
  name: 'operation-not-abandoned',
  story: "A take-over leaves the dead owner's operation running.",
  plant: (sound) =>
    plantRule(
      sound,
      'acquire',
      (rule) => (rows, request, stamp) =>
        rule(rowsWith(rows, { operation: () => undefined }), request, stamp),
    ),
}
