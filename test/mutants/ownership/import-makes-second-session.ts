import { sessionId } from '../../../packages/core/src/base/ids.ts'
import { creationLine } from '../../../packages/core/src/store/rules/create-session.ts'
import { type Mutant, plantRule } from '../mutant.ts'

export const importMakesSecondSession: Mutant = {
  name: 'import-makes-second-session',
  story: 'A file that was imported before is imported again, under another id.',
  plant: (sound) =>
    plantRule(sound, 'adoptSession', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      if (ruling.outcome.kind !== 'exists') return ruling
      const id = sessionId(`${request.session.id}x`)
      const after = { ...request.session, id, birth: 'imported' } as const
      const sessions = [{ before: null, after }]
      const { operation } = request
      const outcome = { kind: 'imported', sessionId: id, entries: 0 } as const
      return { outcome, change: { sessions, audit: [creationLine(after, operation)] } }
    }),
}
