import { type Mutant, plantDecisions } from '../mutant.ts'

export const noAttemptLimit: Mutant = {
  name: 'no-attempt-limit',
  story: 'A writer that always fails is asked without end.',
  seed: 68,
  plant: (sound) =>
    plantDecisions(
      {
        ...sound,
        writer: (writer) => {
          const inner = sound.writer(writer)
          return {
            write: (request, signal) =>
              request.operation.by === 'digest'
                ? inner.write(request, signal)
                : Promise.resolve({ kind: 'failed', reason: 'summary-failed' }),
          }
        },
      },
      { mayAskModel: () => ({ kind: 'yes' }) },
    ),
}
