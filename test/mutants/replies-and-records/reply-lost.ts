import { type Mutant, plantRule } from '../mutant.ts'

export const replyLost: Mutant = {
  name: 'reply-lost',
  story: 'The turn ends in one transaction, its reply is put into the outbox in another.',
  plant: (sound) =>
    plantRule(sound, 'commitReply', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      if (ruling.change === undefined) return ruling
      const sessions = ruling.change.sessions?.map(({ before, after }) => ({
        before,
        after: { ...after, replies: before?.replies ?? 0 },
      }))
      return {
        ...ruling,
        change: { ...ruling.change, replies: [], ...(sessions !== undefined && { sessions }) },
      }
    }),
}
