import { type Mutant, plantDecisions } from '../mutant.ts'

export const oneLane: Mutant = {
  name: 'one-lane',
  story: 'Everything is delivered in the order of arrival, so a person waits behind the watchers.',
  plant: (sound) =>
    plantDecisions(sound, {
      pickDelivery: (view) => {
        const waiting = view.waiting.toSorted((a, b) => a.number - b.number)
        return sound.decisions.pickDelivery({ ...view, waiting })
      },
    }),
}
