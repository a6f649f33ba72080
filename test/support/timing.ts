// Some machines count processor time in ticks of 4 ms: shorter runs are repeated until it tells.
const MEASURED_MS_MIN = 12

/**
 * The least processor time of this thread for one run, in milliseconds, over several rounds: the
 * clock on the wall also measures what else the machine does.
 */
export function fastestMs(run: () => unknown, rounds = 3): number {
  let fastest = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const started = process.threadCpuUsage()
    let runs = 0
    let usedMs = 0
    while (usedMs < MEASURED_MS_MIN) {
      run()
      runs++
      const used = process.threadCpuUsage(started)
      usedMs = (used.user + used.system) / 1_000
    }
    fastest = Math.min(fastest, usedMs / runs)
  }
  return fastest
}
