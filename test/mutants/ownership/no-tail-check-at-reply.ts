import { atTail, type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const noTailCheckAtReply: Mutant = {
  name: 'no-tail-check-at-reply',
  story: 'The fence is checked, the tail is not: a late repetition is appended again.',
  seed: 68,
  plant: (sound) =>
    plantRule(sound, 'commitReply', (rule) => (rows, request, stamp) => {
      const session = rows.session(request.lease.sessionId)
      if (session === undefined) return rule(rows, request, stamp)
      const open = { ...session, turn: request.turn, turnState: 'running', openCalls: [] } as const
      return rule(rowsWith(rows, { session: () => open }), atTail(rows, request), stamp)
    }),
}
