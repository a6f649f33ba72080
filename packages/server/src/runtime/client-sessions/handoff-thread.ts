import { parentPort } from 'node:worker_threads'
import { entryNumber } from '#core/base/ids'
import { handoffText } from './handoff-text.ts'
import { type HandoffOrder, writeClientDigest } from './write-digest.ts'

/** Writes handoffs beside the event loop: over a long history one takes most of a second. */
parentPort?.on('message', (order: HandoffOrder & { readonly call: number }) => {
  void writeClientDigest({ ...order, upto: entryNumber(order.upto) })
    .then((reply) =>
      reply.kind === 'written' ? { ...reply, text: handoffText(reply.handoff) } : reply,
    )
    .catch((error: unknown) => ({ kind: 'failed', reason: String(error) }))
    .then((reply) => parentPort?.postMessage({ call: order.call, reply }))
})
