/**
 * The least processor time of this thread over several runs, in milliseconds: the clock on the wall
 * also measures what else the machine does.
 */
export function fastestMs(run: () => unknown, runs = 3): number {
  let fastest = Number.POSITIVE_INFINITY
  for (let round = 0; round < runs; round++) {
    const started = process.threadCpuUsage()
    run()
    const used = process.threadCpuUsage(started)
    fastest = Math.min(fastest, (used.user + used.system) / 1_000)
  }
  return fastest
}
