// Some machines count processor time in ticks of 4 ms: shorter runs are repeated until it tells.
const MEASURED_MS_MIN = 12
const ROUNDS_MAX = 12

/**
 * The least processor time of this thread for one run, in milliseconds, over several rounds: the
 * clock on the wall also measures what else the machine does.
 */
export function fastestMs(run: () => unknown, rounds = 3): number {
  let fastest = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) fastest = Math.min(fastest, msOf(run))
  return fastest
}

/** The least of a few measures by the clock, for which a busy machine only ever adds. */
export async function leastOf(
  measure: () => Promise<number>,
  { below }: { readonly below: number },
): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS_MAX && least >= below; round++) {
    least = Math.min(least, await measure())
  }
  return least
}

function msOf(run: () => unknown): number {
  const started = process.threadCpuUsage()
  let runs = 0
  let usedMs = 0
  while (usedMs < MEASURED_MS_MIN) {
    run()
    runs++
    const used = process.threadCpuUsage(started)
    usedMs = (used.user + used.system) / 1_000
  }
  return usedMs / runs
}

/** What grows with the size is here at once, what grows with its square never. */
const CLEARLY_LINEAR = 12
const ROUNDS_MIN = 2

/**
 * How many times as much processor time is taken by ten times the size. Neighbours on the machine
 * slow down now the one, now the other, and only ever add: the least of each is what it costs, and
 * as long as the answer is in doubt both are measured again.
 */
export function costOfTenfold(
  prepare: (size: number) => () => unknown,
  { size, floorMs = 1 }: { readonly size: number; readonly floorMs?: number },
): number {
  const [small, large] = [prepare(size), prepare(10 * size)]
  let [smallMs, largeMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  let cost = Number.POSITIVE_INFINITY
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    smallMs = Math.min(smallMs, msOf(small))
    largeMs = Math.min(largeMs, msOf(large))
    // Below the floor the collector decides.
    cost = largeMs / Math.max(smallMs, floorMs)
    if (round >= ROUNDS_MIN && cost < CLEARLY_LINEAR) break
  }
  return cost
}
