import { MUTANTS } from '../mutants/all.ts'
import { type Mutant, plantRule, rowsWith } from '../mutants/mutant.ts'
import { COMPOSITION, type Composition } from '../simulation/composition.ts'

/**
 * Two of the shared list reach into the tables of the memory engine, which a store of files does not
 * have. Here the same two bugs are made of rules alone.
 */
const OF_RULES: Readonly<Record<string, Mutant['plant']>> = {
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
}

/** Not a bug: the control, a rehearsal as impatient as with one. It must find nothing. */
export const NOTHING = 'nothing'

export function compositionWith(name: string): Composition {
  if (name === NOTHING) return COMPOSITION
  const mutant = MUTANTS.find((each) => each.name === name)
  if (mutant === undefined) throw new Error(`no planted bug is called ${name}`)
  return (OF_RULES[name] ?? mutant.plant)(COMPOSITION)
}
