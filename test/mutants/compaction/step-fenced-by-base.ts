import { type Mutant, plantRule } from '../mutant.ts'

export const stepFencedByBase: Mutant = {
  name: 'step-fenced-by-base',
  story: 'A step is thrown away when a compaction was committed while the model spoke.',
  plant: (sound) =>
    plantRule(sound, 'commitReply', (rule) => (rows, request, stamp) => {
      const base = rows.session(request.lease.sessionId)?.base ?? 0
      const isOlder = request.step !== undefined && base > request.step.upto
      if (isOlder) return { outcome: { kind: 'superseded', by: 'tail' } }
      return rule(rows, request, stamp)
    }),
}
