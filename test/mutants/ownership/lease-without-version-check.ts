import { type Mutant, plantRule } from '../mutant.ts'

export const leaseWithoutVersionCheck: Mutant = {
  name: 'lease-without-version-check',
  seed: 192,
  story: 'A session is acquired with whatever fence the caller remembers.',
  plant: (sound) =>
    plantRule(sound, 'acquire', (rule) => (rows, request, stamp) => {
      const fence = rows.session(request.sessionId)?.fence ?? request.fence
      return rule(rows, { ...request, fence }, stamp)
    }),
}
