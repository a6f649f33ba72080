// Some machines count CPU time in ticks of 4 ms: shorter runs are repeated.
const MEASURED_MS_MIN = 12
const ROUNDS_MAX = 12

/**
 * The least CPU time of this thread for one run, in milliseconds, over several rounds: wall time
 * also measures the rest of the machine.
 */
export function fastestMs(run: () => unknown, rounds = 3): number {
  let fastest = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) fastest = Math.min(fastest, msOf(run))
  return fastest
}

/** The least of several wall-clock measurements; a busy machine only adds time. */
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

/** How long a plain timer of this length takes at this moment: a busy machine makes each of them late. */
export async function timerMs(ms: number): Promise<number> {
  const startedAt = performance.now()
  await new Promise((resolve) => setTimeout(resolve, ms))
  return performance.now() - startedAt
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

/** Linear work stays below this at once, quadratic work never does. */
const CLEARLY_LINEAR = 12
const ROUNDS_MIN = 2

/**
 * The ratio of CPU times for ten times the size. Other load slows down either measurement and only
 * ever adds, so the least of each is its cost; both are repeated while the answer is in doubt. A test with a wide limit says what is
 * no longer in doubt for it.
 */
export function costOfTenfold(
  prepare: (size: number) => () => unknown,
  {
    size,
    floorMs = 1,
    clearlyLinear = CLEARLY_LINEAR,
  }: { readonly size: number; readonly floorMs?: number; readonly clearlyLinear?: number },
): number {
  const [small, large] = [prepare(size), prepare(10 * size)]
  let [smallMs, largeMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  let cost = Number.POSITIVE_INFINITY
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    smallMs = Math.min(smallMs, msOf(small))
    largeMs = Math.min(largeMs, msOf(large))
    // Below the floor, garbage collection dominates.
    cost = largeMs / Math.max(smallMs, floorMs)
    if (round >= ROUNDS_MIN && cost < clearlyLinear) break
  }
  return cost
}
