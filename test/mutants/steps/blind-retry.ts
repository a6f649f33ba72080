import { type Mutant, plantStore } from '../mutant.ts'
import { noTailCheckAtReply } from '../ownership/no-tail-check-at-reply.ts'

export const blindRetry: Mutant = {
  name: 'blind-retry',
  story: 'An unknown outcome is repeated at the new tail without looking.',
  seed: 22,
  plant: (sound) =>
    plantStore(noTailCheckAtReply.plant(sound), (store) => ({
      commitReply: async (request) => {
        try {
          return await store.commitReply(request)
        } catch {
          const row = await store.findSession(request.lease.sessionId)
          if (row === undefined) return { kind: 'superseded', by: 'gone' }
          const tail = { number: row.tail, hash: row.tailHash }
          return await store.commitReply({ ...request, turn: row.turn, tail })
        }
      },
    })),
}
