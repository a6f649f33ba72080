/** Longer than a stall of the machine, shorter than the limit of a test, which could not say what was missing. */
const WITHIN_MS = 60_000
const LOOK_MS = 10

/** Waits for a condition that must come true: on a busy machine it comes late, not never. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  withinMs = WITHIN_MS,
): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`Not so after ${withinMs} ms: ${isSo}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
