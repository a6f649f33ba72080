import { MUTANTS } from '../mutants/all.ts'
import { hugeEntriesNotClipped } from '../mutants/mailbox/huge-entries-not-clipped.ts'
import { type Mutant, plantRule, plantStore, rowsWith } from '../mutants/mutant.ts'
import { COMPOSITION, type Composition } from '../simulation/composition.ts'

/**
 * Two of the shared list reach into the tables of the memory engine, which a store of files does not
 * have; one shows limits that no configured agent has, so that its session adopts its settings for
 * ever. Here the same three bugs are made in a way that a whole process can have.
 */
const OTHERWISE: Readonly<Record<string, Mutant['plant']>> = {
  'blob-counted-off-twice': (sound) =>
    plantRule(sound, 'eraseEntries', (rule) => (rows, request, stamp) => {
      const entry: typeof rows.entry = (id, number) => {
        const found = rows.entry(id, number)
        return found && { ...found, body: found.body ?? 'null' }
      }
      return rule(rowsWith(rows, { entry }), request, stamp)
    }),
  // What a message uses is not counted as used, so a sweep takes it.
  'blob-dropped-while-used': (sound) =>
    plantRule(sound, 'admit', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      if (ruling.change === undefined) return ruling
      return { ...ruling, change: { ...ruling.change, blobUses: [] } }
    }),
  'huge-entries-not-clipped': (sound) =>
    plantStore(hugeEntriesNotClipped.plant(sound), (store) => ({
      // What it was configured with once stays: otherwise the limits would seem to have changed.
      changeSettings: async (request) => {
        const row = await store.findSession(request.lease.sessionId)
        if (row?.settings === 0) return await store.changeSettings(request)
        return { kind: 'limits-refused', neededTokens: 0, hardTokens: 0 }
      },
    })),
}

/** Not a bug: the control, a rehearsal as impatient as with one. It must find nothing. */
export const NOTHING = 'nothing'

export function compositionWith(name: string): Composition {
  if (name === NOTHING) return COMPOSITION
  const mutant = MUTANTS.find((each) => each.name === name)
  if (mutant === undefined) throw new Error(`no planted bug is called ${name}`)
  return (OTHERWISE[name] ?? mutant.plant)(COMPOSITION)
}
