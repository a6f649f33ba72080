import type { Composition } from '../../simulation/composition.ts'
import type { Mutant } from '../mutant.ts'

export const interruptReachesCompaction: Mutant = {
  name: 'interrupt-reaches-compaction',
  story: 'Step and handoff share one abort signal, so a stop tears the compaction.',
  seed: 30,
  plant: (sound) => ({
    ...sound,
    ...shareSignals(sound),
  }),
}

function shareSignals(sound: Composition): Pick<Composition, 'steps' | 'writer'> {
  const writing = new Map<string, AbortController>()
  return {
    steps: (steps, tools) => {
      const inner = sound.steps(steps, tools)
      return {
        run(request, signal) {
          const tear = () => writing.get(request.sessionId)?.abort('interrupted')
          signal.addEventListener('abort', tear, { once: true })
          return inner.run(request, signal)
        },
      }
    },
    writer: (writer) => {
      const inner = sound.writer(writer)
      return {
        write(request, signal) {
          const controller = new AbortController()
          signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true })
          writing.set(request.operation.sessionId, controller)
          return inner.write(request, controller.signal)
        },
      }
    },
  }
}
