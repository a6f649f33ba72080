import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { leastOf } from '../../../../../test/support/timing.ts'
import { LoopMeter } from './loop-meter.ts'

describe('a loop meter', () => {
  let meter: LoopMeter
  beforeEach(async () => {
    meter = new LoopMeter()
    meter.start()
    await sleep(60)
  })
  afterEach(() => meter.stop())

  it('counts the processor time of the thread while the loop was late', async () => {
    const before = process.threadCpuUsage()
    for (let used = 0; used < 120_000; ) {
      const { user, system } = process.threadCpuUsage(before)
      used = user + system
    }
    await expect.poll(() => meter.figures().ownMsMax).toBeGreaterThan(60)
    await expect.poll(() => meter.figures().delayMsMax).toBeGreaterThan(60)
  })

  it('does not count time in which the thread only waited', async () => {
    hold(300)
    await expect.poll(() => meter.figures().delayMsMax).toBeGreaterThan(200)
    await sleep(60)
    expect(meter.figures().ownMsMax).toBeLessThan(100)
  })

  it('leaves out excluded periods', async () => {
    const measure = async () => {
      const other = new LoopMeter()
      other.start()
      await sleep(60)
      other.pause(() => hold(1_500))
      await sleep(60)
      other.stop()
      return other.figures().delayMsMax
    }
    expect(await leastOf(measure, { below: 1_400 })).toBeLessThan(1_400)
  })
})

/** Blocks the thread without using the processor, as a busy machine does. */
function hold(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
