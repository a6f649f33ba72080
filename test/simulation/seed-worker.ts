import { parentPort } from 'node:worker_threads'
import { runSeeds } from './tally.ts'

/** Shares of the seeds, one after another, on a core of its own. */
parentPort?.on('message', async ({ from, count }: { from: number; count: number }) => {
  parentPort?.postMessage(await runSeeds(from, count))
})
