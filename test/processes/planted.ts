import { mailNumber } from '../../packages/core/src/base/ids.ts'
import { MUTANTS } from '../mutants/all.ts'
import { type Mutant, plantStore } from '../mutants/mutant.ts'
import { COMPOSITION, type Composition } from '../simulation/composition.ts'

/** Only a process that is killed shows this bug: no answer and no error comes back. */
const acknowledgedWhenSent: Mutant = {
  name: 'acknowledged-when-sent',
  story: 'A message is acknowledged when its commit is handed over, not when it is done.',
  plant: (sound) =>
    plantStore(sound, (store) => ({
      admit: async (request) => {
        const { to } = request
        const id = 'sessionId' in to ? to.sessionId : (await store.findRoute(to.route))?.sessionId
        const row = id && (await store.findSession(id))
        if (!row) return { kind: 'unknown' }
        store.admit(request).catch(() => {})
        return {
          kind: 'admitted',
          sessionId: row.id,
          mail: mailNumber(row.mail + 1),
          runner: null,
        }
      },
    })),
}

export function plantMutant(name: string): Composition {
  const mutant = [...MUTANTS, acknowledgedWhenSent].find((each) => each.name === name)
  if (mutant === undefined) throw new Error(`no planted bug is called ${name}`)
  return mutant.plant(COMPOSITION)
}
