import type { Lease } from '../../../packages/core/src/store/contract.ts'
import type { MailItem } from '../../../packages/core/src/store/queries.ts'
import { type Mutant, plantStore } from '../mutant.ts'

export const stopSettledEarly: Mutant = {
  name: 'stop-settled-early',
  story: 'A stop is settled when it is read, not when its turn has ended.',
  plant: (sound) =>
    plantStore(sound, (store) => ({
      acquire: async (request) => {
        const outcome = await store.acquire(request)
        if (outcome.kind === 'acquired') leases.set(request.sessionId, outcome.lease)
        return outcome
      },
      look: async (query) => {
        const found = await store.look(query)
        const lease = leases.get(query.sessionId)
        const isStop = ({ control }: MailItem) => control === 'stop'
        const stops = found?.mail.control.filter(isStop).map(({ number }) => number) ?? []
        if (lease !== undefined && stops.length > 0) {
          await store.settleControl({ lease, mail: stops })
        }
        return found
      },
    })),
}

const leases = new Map<string, Lease>()
