import { type Mutant, plantRule, withoutKin } from '../mutant.ts'

export const purgeIgnoresForks: Mutant = {
  name: 'purge-ignores-forks',
  story: 'A deleted session takes the entries with it that living forks read.',
  seed: 62,
  plant: (sound) =>
    plantRule(
      sound,
      'eraseSome',
      (rule) => (rows, request, stamp) => rule(withoutKin(rows), request, stamp),
    ),
}
