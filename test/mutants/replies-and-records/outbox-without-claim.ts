import type { Rows } from '../../../packages/core/src/store/rules/ruling.ts'
import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const outboxWithoutClaim: Mutant = {
  name: 'outbox-without-claim',
  story: 'A reply is read and sent, and nobody writes down that it is being sent.',
  plant: (sound) =>
    plantRule(
      plantRule(sound, 'claimReply', (rule) => (rows, request, stamp) => {
        const { outcome } = rule(rows, request, stamp)
        return { outcome }
      }),
      'settleReply',
      (rule) => (rows, request, stamp) => {
        const { attempt, claimant } = request
        const reply: Rows['reply'] = (sessionId, number) => {
          const row = rows.reply(sessionId, number)
          return row && { ...row, attempt, claimant }
        }
        return rule(rowsWith(rows, { reply }), request, stamp)
      },
    ),
}
