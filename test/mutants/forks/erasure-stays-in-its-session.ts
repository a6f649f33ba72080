import { type Mutant, plantRule, withoutKin } from '../mutant.ts'

export const erasureStaysInItsSession: Mutant = {
  name: 'erasure-stays-in-its-session',
  story: 'Forks and copies keep handoffs and entries that tell what was erased.',
  plant: (sound) =>
    plantRule(
      sound,
      'eraseEntries',
      (rule) => (rows, request, stamp) => rule(withoutKin(rows), request, stamp),
    ),
}
