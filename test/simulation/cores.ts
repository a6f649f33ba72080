import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type Tally, tallyUp } from './tally.ts'

/**
 * Worker threads that each run a share of the seeds. They load the code once, whatever is edited
 * meanwhile.
 */
export class Cores {
  readonly #workers: readonly Worker[]

  constructor(count: number = availableParallelism()) {
    this.#workers = Array.from(
      { length: Math.max(1, count) },
      () =>
        new Worker(new URL('./seed-worker.ts', import.meta.url), {
          // A seed's objects live for milliseconds: with a large young generation little is copied
          // (a tenth less time).
          resourceLimits: { maxYoungGenerationSizeMb: 96 },
        }),
    )
  }

  async run(from: number, count: number): Promise<Tally> {
    const share = Math.ceil(count / this.#workers.length)
    const shares = this.#workers.map((worker, index) => {
      const first = from + index * share
      return ask(worker, { from: first, count: Math.max(0, Math.min(share, from + count - first)) })
    })
    return tallyUp(await Promise.all(shares))
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }
}

function ask(worker: Worker, share: { from: number; count: number }): Promise<Tally> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (tally: Tally) => {
      worker.off('error', reject)
      resolve(tally)
    })
    worker.postMessage(share)
  })
}
