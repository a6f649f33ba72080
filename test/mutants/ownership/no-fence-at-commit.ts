import { asHolder, type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const noFenceAtCommit: Mutant = {
  name: 'no-fence-at-commit',
  story: 'A compaction is committed whoever asks, as long as the session exists.',
  seed: 83,
  plant: (sound) =>
    plantRule(sound, 'commitCompaction', (rule) => (rows, request, stamp) => {
      const session = rows.session(request.lease.sessionId)
      const claimed = rows.operation(request.operation)
      if (session === undefined || claimed === undefined) return rule(rows, request, stamp)
      const { fence, base } = session
      const operation = { ...claimed, state: 'running', fence, base } as const
      const open = { ...session, operation: claimed.id }
      const loose = rowsWith(rows, { operation: () => operation, session: () => open })
      return rule(loose, asHolder(loose, request), stamp)
    }),
}
