import { once } from 'node:events'
import type { HandoffWriter } from '../../packages/core/src/session/handoff.ts'

/** A handoff writer that finishes only when the test lets it. */
export function heldHandoffs() {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const writer = (real: HandoffWriter): HandoffWriter => ({
    async write(request, signal) {
      await Promise.race([promise, once(signal, 'abort')])
      return await real.write(request, signal)
    },
  })
  return { seams: { writer }, release }
}
