import type { Rows } from '../../../packages/core/src/store/rules/ruling.ts'
import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const outboxWithoutOrder: Mutant = {
  name: 'outbox-without-order',
  story: 'The newest reply is sent first.',
  plant: (sound) =>
    plantRule(sound, 'claimReply', (rule) => (rows, request, stamp) => {
      const nextReply: Rows['nextReply'] = (edge, at) => {
        const first = rows.nextReply(edge, at)
        if (first === undefined) return undefined
        for (let number = first.number + 20; number > first.number; number--) {
          const other = rows.reply(first.sessionId, number)
          if (other?.state === 'waiting' && other.claimant === null) return other
        }
        return first
      }
      return rule(rowsWith(rows, { nextReply }), request, stamp)
    }),
}
