import { type Mutant, plantStore } from '../mutant.ts'

export const keysPerSession: Mutant = {
  name: 'keys-per-session',
  seed: 76,
  story: 'A key is known within its session only, so a webhook repeated behind /new is done twice.',
  plant: (sound) =>
    plantStore(sound, (store) => ({
      admit: async (request) => {
        const { to } = request
        const id = 'route' in to ? (await store.findRoute(to.route))?.sessionId : to.sessionId
        return await store.admit({ ...request, source: `${request.source} ${id}` })
      },
    })),
}
