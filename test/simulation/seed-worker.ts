import { parentPort } from 'node:worker_threads'
import { runSeeds } from './tally.ts'

/** Runs shares of the seeds, one after another, in a worker thread. */
parentPort?.on('message', async ({ from, count }: { from: number; count: number }) => {
  parentPort?.postMessage(await runSeeds(from, count))
})
