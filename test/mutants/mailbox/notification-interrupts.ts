import { type Mutant, plantDecisions } from '../mutant.ts'

export const notificationInterrupts: Mutant = {
  name: 'notification-interrupts',
  story: 'A notification stops the running step.',
  plant: (sound) =>
    plantDecisions(sound, {
      isInterrupted: ({ session, waiting }) => session.policy === 'interrupt' && waiting.length > 0,
    }),
}
