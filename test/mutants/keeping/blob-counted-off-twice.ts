import type { Entry } from '../../../packages/core/src/store/tables/rows.ts'
import { type Mutant, plantRule, rowsWith } from '../mutant.ts'

export const blobCountedOffTwice: Mutant = {
  name: 'blob-counted-off-twice',
  story: 'Erasing an entry again counts its files off again, and takes them from others.',
  seed: 150,
  plant: (sound) =>
    plantRule(sound, 'eraseEntries', (rule) => (rows, request, stamp) => {
      const { entries } = rows as unknown as { entries: Map<string, Entry[]> }
      const entry = (id: string, number: number) => {
        const found = entries.get(id)?.[number - 1]
        return found && { ...found, body: found.body ?? 'null' }
      }
      return rule(rowsWith(rows, { entry }), request, stamp)
    }),
}
