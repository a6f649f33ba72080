import { type Mutant, plantRule } from '../mutant.ts'

export const forkGoesOnWithTheTurn: Mutant = {
  name: 'fork-goes-on-with-the-turn',
  story: 'A fork answers the message that its origin is answering.',
  plant: (sound) =>
    plantRule(sound, 'fork', (rule) => (rows, request, stamp) => {
      const ruling = rule(rows, request, stamp)
      const origin = rows.session(request.from)
      const { change } = ruling
      if (change === undefined || origin?.turnState !== 'running') return ruling
      const sessions = (change.sessions ?? []).map(({ before, after }) => ({
        before,
        after: { ...after, turnState: origin.turnState, turn: origin.turn },
      }))
      return { ...ruling, change: { ...change, sessions } }
    }),
}
