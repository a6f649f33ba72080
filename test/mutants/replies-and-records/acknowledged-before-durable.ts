import { mailNumber } from '../../../packages/core/src/base/ids.ts'
import { type Mutant, plantStore } from '../mutant.ts'

export const acknowledgedBeforeDurable: Mutant = {
  name: 'acknowledged-before-durable',
  story: 'A message is acknowledged when the commit is sent, not when it is done.',
  plant: (sound) =>
    plantStore(sound, (store) => ({
      admit: async (request) => {
        try {
          return await store.admit(request)
        } catch (error) {
          const { to } = request
          const row = 'sessionId' in to ? await store.findSession(to.sessionId) : undefined
          if (row === undefined) throw error
          return {
            kind: 'admitted',
            sessionId: row.id,
            mail: mailNumber(row.mail + 1),
            runner: null,
          }
        }
      },
    })),
}
