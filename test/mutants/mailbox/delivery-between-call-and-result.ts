import { operationId } from '../../../packages/core/src/base/ids.ts'
import type { SessionRow } from '../../../packages/core/src/store/tables/rows.ts'
import { type Mutant, plantRule, plantStore, rowsWith, sessionWith } from '../mutant.ts'

export const deliveryBetweenCallAndResult: Mutant = {
  name: 'delivery-between-call-and-result',
  story: 'Input is delivered while tools run.',
  plant: (sound) =>
    plantRule(
      plantStore(sound, (store) => ({
        commitReply: async (request) => {
          const outcome = await store.commitReply(request)
          if (outcome.kind !== 'committed' || (request.step?.calls.length ?? 0) === 0)
            return outcome
          const { lease } = request
          const query = {
            sessionId: lease.sessionId,
            lane: 'user',
            state: 'pending',
            limit: 1,
          } as const
          const [mail] = await store.listMail(query)
          if (mail === undefined) return outcome
          const operation = operationId(`${request.operation}-m`)
          await store.deliver({ lease, tail: outcome.tail, operation, mail: [mail.number] })
          return outcome
        },
      })),
      'deliver',
      (rule) => (rows, request, stamp) => {
        const closed = (row: SessionRow): SessionRow => ({ ...row, openCalls: [] })
        return rule(rowsWith(rows, sessionWith(rows, closed)), request, stamp)
      },
    ),
}
