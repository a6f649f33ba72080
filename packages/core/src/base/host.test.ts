import { spawnSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isGone, thisHost } from './host.ts'

/** The id of a process that has just ended. */
function pastProcess(): number {
  return spawnSync(process.execPath, ['-e', '']).pid
}

describe('another process', () => {
  it('is gone if no process on this host has its id, but not while it runs or is this one', () => {
    const { boot } = thisHost()
    expect(isGone({ boot, process: pastProcess() })).toBe(true)
    expect(isGone({ boot, process: process.ppid })).toBe(false)
    expect(isGone(thisHost())).toBe(false)
  })

  it('is never declared gone if it belongs to another host, boot or container', (context) => {
    if (process.platform !== 'linux') return context.skip('not run: only Linux tells these')
    const past = pastProcess()
    const [host = '', boot = '', space = ''] = thisHost().boot.split(' ')
    expect(space).toBe(readlinkSync('/proc/self/ns/pid'))
    for (const parts of [
      ['elsewhere', boot, space],
      [host, 'another-boot', space],
      // Containers on one machine share its boot id but have their own process ids.
      [host, boot, 'pid:[1]'],
    ]) {
      expect(isGone({ boot: parts.join(' '), process: past })).toBe(false)
    }
  })
})
