import { type Mutant, plantDecisions, plantRule, rowsWith } from '../mutant.ts'

export const inputBoundPerDelivery: Mutant = {
  name: 'input-bound-per-delivery',
  story: 'Each delivery is bounded, what is still unseen is not counted.',
  plant: (sound) =>
    plantRule(
      plantDecisions(sound, {
        pickDelivery: (view) => {
          const { context, session } = view
          const pieces = context.pieces.filter((piece) => piece.number <= session.seen)
          return sound.decisions.pickDelivery({ ...view, context: { ...context, pieces } })
        },
      }),
      'deliver',
      (rule) => (rows, request, stamp) =>
        rule(rowsWith(rows, { inputsAfter: () => [] }), request, stamp),
    ),
}
