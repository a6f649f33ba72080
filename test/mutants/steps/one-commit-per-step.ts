import { callsOf } from '../../../packages/core/src/session/step.ts'
import type { Mutant } from '../mutant.ts'

export const oneCommitPerStep: Mutant = {
  name: 'one-commit-per-step',
  story: 'Tools run before the reply that calls them is recorded.',
  plant: (sound) => ({
    ...sound,
    steps: (steps, tools) => {
      const inner = sound.steps(steps, tools)
      return {
        async run(request, signal) {
          const outcome = await inner.run(request, signal)
          if (outcome.kind !== 'replied') return outcome
          for (const call of callsOf(outcome.message)) {
            const { sessionId, agent, turn, upto } = request
            await tools.run(
              { sessionId, agent, turn, entry: upto, call, key: `${sessionId}-${call.id}` },
              signal,
            )
          }
          return outcome
        },
      }
    },
  }),
}
