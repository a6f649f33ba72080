import type { SessionRow } from '../../../packages/core/src/store/rows.ts'
import { type Mutant, plantRule, plantStore, rowsWith, sessionWith } from '../mutant.ts'

export const stopWithoutTarget: Mutant = {
  name: 'stop-without-target',
  story: 'A stop is kept until there is a turn, and ends whichever comes.',
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
        listMail: async (query) => {
          const row = await store.findSession(query.sessionId)
          const items = await store.listMail(query)
          if (row === undefined) return items
          const isStop = (control: string | null) => control === 'stop'
          return items.map((item) => (isStop(item.control) ? { ...item, turnAt: row.turn } : item))
        },
      }),
    ),
}
