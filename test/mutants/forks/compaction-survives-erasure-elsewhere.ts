import { type Mutant, plantRule } from '../mutant.ts'

export const compactionSurvivesErasureElsewhere: Mutant = {
  name: 'compaction-survives-erasure-elsewhere',
  story:
    'A fork goes on with a compaction whose source was erased in its origin, and owes nothing.',
  plant: (sound) =>
    plantRule(sound, 'eraseEntries', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const { change } = ruling
      if (change === undefined) return ruling
      const isOwn = (id: string) => id === request.lease.sessionId
      return {
        ...ruling,
        change: {
          ...change,
          sessions: (change.sessions ?? []).filter(({ after }) => isOwn(after.id)),
          operations: (change.operations ?? []).filter(({ sessionId }) => isOwn(sessionId)),
        },
      }
    }),
}
