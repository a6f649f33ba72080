import { signal } from '@preact/signals'

/**
 * The server's time, as far as it is known: what happened there is told against it, whatever the
 * clock of this computer says. It moves on by itself, and what is drawn from it with it.
 */
export const now = signal(Date.now())
const MOVES_MS = 10_000
/** A header has whole seconds and takes its time on the way: less than this is no difference. */
const DIFFERENCE_MS_MIN = 5_000
let aheadMs = 0

setInterval(move, MOVES_MS)

export function noteDate(header: string | null): void {
  const difference = Date.parse(header ?? '') - Date.now()
  if (Number.isNaN(difference) || Math.abs(difference - aheadMs) < DIFFERENCE_MS_MIN) return
  aheadMs = difference
  move()
}

function move(): void {
  now.value = Date.now() + aheadMs
}
