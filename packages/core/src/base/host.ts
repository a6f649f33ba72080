import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * This host and this process, as other processes on the store see them, so that no one waits for a
 * process that has provably ended. Only Linux reports all of these facts; elsewhere a lease ends
 * only by its time.
 */
export interface HostProcess {
  readonly boot: string
  readonly process: number
}

export function thisHost(): HostProcess {
  return { boot: bootOf(), process: process.pid }
}

/** True only if certain: same boot of the same host, and no process has that id. */
export function isGone(row: HostProcess): boolean {
  if (row.boot !== bootOf() || row.process === process.pid) return false
  try {
    // Signal 0 only checks whether the process exists.
    process.kill(row.process, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

let boot: string | undefined

function bootOf(): string {
  boot ??= `${hostname()} ${kernelBoot()} ${processSpace()}`
  return boot
}

function kernelBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // Without an id no other row matches ours, so no process is ever declared gone.
    return `unknown-${process.pid}`
  }
}

/** Containers on one host share its boot id but have their own process ids. */
function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return `unknown-${process.pid}`
  }
}
