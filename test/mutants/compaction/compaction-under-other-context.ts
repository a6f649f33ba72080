import type { HandoffRequest } from '../../../packages/core/src/session/handoff.ts'
import type { Mutant } from '../mutant.ts'

export const compactionUnderOtherContext: Mutant = {
  name: 'compaction-under-other-context',
  story:
    'The writer keeps the last request in a variable of the process and summarizes another session.',
  plant: (sound) => ({
    ...sound,
    writer: (writer) => {
      const inner = sound.writer(writer)
      let last: HandoffRequest | null = null
      return {
        write(request, signal) {
          const asked = last ?? request
          last = request
          return inner.write({ ...request, messages: asked.messages, cut: asked.cut }, signal)
        },
      }
    },
  }),
}
