import { readFileSync } from 'node:fs'

/** Whether a process still runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie still has a pid: it has ended and waits to be reaped.
    const stat = process.platform === 'linux' ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ''
    return !/\) Z /.test(stat)
  } catch {
    return false
  }
}
