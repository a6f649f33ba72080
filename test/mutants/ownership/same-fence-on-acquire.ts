import { type Mutant, plantRule } from '../mutant.ts'

export const sameFenceOnAcquire: Mutant = {
  name: 'same-fence-on-acquire',
  story: 'Whoever acquires a session again continues under the old fence.',
  plant: (sound) =>
    plantRule(sound, 'acquire', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const { outcome } = ruling
      if (outcome.kind !== 'acquired') return ruling
      const fence = outcome.session.fence - 1
      const sessions = ruling.change?.sessions?.map(({ before, after }) => ({
        before,
        after: { ...after, fence },
      }))
      return {
        outcome: { ...outcome, lease: { ...outcome.lease, fence } },
        change: { ...ruling.change, ...(sessions !== undefined && { sessions }) },
      }
    }),
}
