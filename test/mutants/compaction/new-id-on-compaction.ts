import { sessionId } from '../../../packages/core/src/base/ids.ts'
import { type Mutant, plantRule } from '../mutant.ts'

export const newIdOnCompaction: Mutant = {
  name: 'new-id-on-compaction',
  story: 'A compaction continues under a new session id, as if that were another conversation.',
  plant: (sound) =>
    plantRule(sound, 'commitCompaction', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const [written] = ruling.change?.sessions ?? []
      if (written === undefined) return ruling
      const id = sessionId(`${written.after.id}x`)
      const sessions = [{ before: null, after: { ...written.after, id } }]
      return { ...ruling, change: { ...ruling.change, sessions: [written, ...sessions] } }
    }),
}
