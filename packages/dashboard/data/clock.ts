import { signal } from '@preact/signals'

/**
 * The server's time, estimated. Ages are shown by it, so a wrong clock on this computer does no harm.
 * The signal advances by itself and redraws its readers.
 */
export const now = signal(Date.now())
const MOVES_MS = 10_000
/** The header has whole seconds and arrives late: smaller differences mean nothing. */
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
