import type { SessionRow } from '../../../packages/core/src/store/tables/rows.ts'
import { type Mutant, plantRule, plantStore, rowsWith, sessionWith } from '../mutant.ts'

export const stopWithoutTarget: Mutant = {
  name: 'stop-without-target',
  story: 'A stop is kept until there is a turn, and ends whichever comes.',
  seed: 40,
  plant: (sound) =>
    plantStore(
      plantRule(sound, 'admit', (rule) => (rows, request, stamp) => {
        if (request.control !== 'stop') return rule(rows, request, stamp)
        const running = (row: SessionRow): SessionRow => ({ ...row, turnState: 'running' })
        const ruling = rule(rowsWith(rows, sessionWith(rows, running)), request, stamp)
        const sessions = ruling.change?.sessions?.map(({ before, after }) => ({
          before,
          after: { ...after, turnState: rows.session(after.id)?.turnState ?? 'idle' },
        }))
        return sessions === undefined
          ? ruling
          : { ...ruling, change: { ...ruling.change, sessions } }
      }),
      (store) => ({
        look: async (query) => {
          const found = await store.look(query)
          if (found === undefined) return undefined
          const { mail, session } = found
          const control = mail.control.map((item) =>
            item.control === 'stop' ? { ...item, turnAt: session.turn } : item,
          )
          return { ...found, mail: { ...mail, control } }
        },
      }),
    ),
}
