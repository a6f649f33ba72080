import { parentPort, workerData } from 'node:worker_threads'
import { runSeeds } from './tally.ts'

/** A share of the seeds on a core of its own. */
const { from, count } = workerData as { from: number; count: number }
parentPort?.postMessage(await runSeeds(from, count))
