import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type Tally, tallyUp } from './tally.ts'

/** Runs seeds on every core, each its share. */
export async function runOnAllCores(from: number, count: number): Promise<Tally> {
  const workers = Math.max(1, availableParallelism())
  const share = Math.ceil(count / workers)
  const shares = Array.from({ length: workers }, (_, index) => {
    const first = from + index * share
    return { from: first, count: Math.max(0, Math.min(share, from + count - first)) }
  })
  return tallyUp(await Promise.all(shares.map(runWorker)))
}

function runWorker(workerData: { from: number; count: number }): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./seed-worker.ts', import.meta.url), { workerData })
    worker.on('message', resolve)
    worker.on('error', reject)
  })
}
