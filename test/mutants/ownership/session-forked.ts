import { sessionId } from '../../../packages/core/src/base/ids.ts'
import { everySessionReady, type Mutant, plantRule } from '../mutant.ts'

export const sessionForked: Mutant = {
  name: 'session-forked',
  story: 'Acquiring a held session makes a copy of it.',
  plant: (sound) =>
    plantRule(everySessionReady(sound), 'acquire', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const row = rows.session(request.sessionId)
      if (ruling.outcome.kind !== 'held' || row === undefined) return ruling
      const after = { ...row, id: sessionId(`${row.id}-fork`), fence: 0 }
      return { ...ruling, change: { sessions: [{ before: null, after }] } }
    }),
}
