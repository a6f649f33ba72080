import { type Mutant, plantDecisions, plantRule, rowsWith } from '../mutant.ts'

export const seenInputUncounted: Mutant = {
  name: 'seen-input-uncounted',
  story: 'Requests that a model has seen and not answered leave the whole bound to the next ones.',
  plant: (sound) =>
    plantRule(
      plantDecisions(sound, {
        pickDelivery: (view) => {
          const { context, session } = view
          const pieces = context.pieces.filter((piece) => piece.number > session.seen)
          return sound.decisions.pickDelivery({ ...view, context: { ...context, pieces } })
        },
      }),
      'deliver',
      (rule) => (rows, request, stamp) => {
        const seen = rows.session(request.lease.sessionId)?.seen ?? 0
        const inputsAfter: typeof rows.inputsAfter = (id, number) =>
          rows.inputsAfter(id, number).filter((head) => head.number > seen)
        return rule(rowsWith(rows, { inputsAfter }), request, stamp)
      },
    ),
}
