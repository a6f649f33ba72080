import { type Mutant, plantRule } from '../mutant.ts'

export const prefixKeptForNobody: Mutant = {
  name: 'prefix-kept-for-nobody',
  story: 'When the last fork is gone, what its deleted origin kept for it stays for ever.',
  seed: 1_746,
  plant: (sound) =>
    plantRule(sound, 'eraseSome', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const { change, outcome } = ruling
      if (change?.sessions === undefined || outcome.kind !== 'erased') return ruling
      const { next: _, ...rest } = outcome
      const sessions = change.sessions.filter(({ after }) => after.id === request.sessionId)
      return { outcome: rest, change: { ...change, sessions } }
    }),
}
