import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const noBase: Mutant = {
  name: 'no-base',
  story: 'A compaction is committed although a revert came in between.',
  seed: 183,
  plant: (sound) =>
    plantRule(
      plantRule(sound, 'revert', (rule) => (rows, request, stamp) => {
        const ruling = rule(rowsWith(rows, { operation: () => undefined }), request, stamp)
        return ruling
      }),
      'commitCompaction',
      (rule) => (rows, request, stamp) => {
        const session = rows.session(request.lease.sessionId)
        const claimed = rows.operation(request.operation)
        if (session === undefined || claimed === undefined) return rule(rows, request, stamp)
        const operation = { ...claimed, base: session.base }
        return rule(rowsWith(rows, { operation: () => operation }), request, stamp)
      },
    ),
}
