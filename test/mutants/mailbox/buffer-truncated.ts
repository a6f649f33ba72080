import { type Mutant, plantRule } from '../mutant.ts'

export const bufferTruncated: Mutant = {
  name: 'buffer-truncated',
  story: 'More than ten waiting items: the newest is acknowledged and dropped.',
  plant: (sound) =>
    plantRule(sound, 'admit', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const { outcome } = ruling
      if (outcome.kind !== 'admitted') return ruling
      const waiting = rows.session(outcome.sessionId)?.pending.user ?? 0
      return waiting > 10 ? { outcome } : ruling
    }),
}
