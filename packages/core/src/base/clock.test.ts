import { expect, it } from 'vitest'
import { systemClock } from './clock.ts'

it('never calls back early, not even by a part of a millisecond', async () => {
  for (let times = 0; times < 30; times++) {
    const asked = systemClock.monotonic()
    await new Promise<void>((resolve) => void systemClock.after(3.9, resolve))
    expect(systemClock.monotonic() - asked).toBeGreaterThanOrEqual(3.9)
  }
})
