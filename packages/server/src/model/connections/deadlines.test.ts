import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../../../test/model/fake-clock.ts'
import { type DeadlineName, DeadlineTimers } from './deadlines.ts'

const deadlines = { connectMs: 100, firstByteMs: 500, idleMs: 200, totalMs: 2_000 }

function watch() {
  const clock = new FakeClock()
  const expired: { deadline: DeadlineName; atMs: number }[] = []
  const made = new DeadlineTimers(clock, {
    deadlines,
    expire: (deadline) => expired.push({ deadline, atMs: clock.monotonic() }),
  })
  return { clock, made, expired }
}

describe('the clocks of a call', () => {
  it('end each phase by its own deadline', async () => {
    for (const [phase, enter] of [
      ['connect', (made: DeadlineTimers) => made.connecting()],
      ['first-byte', (made: DeadlineTimers) => made.sent()],
      ['idle', (made: DeadlineTimers) => made.heard()],
    ] as const) {
      const { clock, made, expired } = watch()
      enter(made)
      await clock.pass(1_000)
      const limit = { connect: 100, 'first-byte': 500, idle: 200 }[phase]
      expect(expired).toEqual([{ deadline: phase, atMs: limit + 1 }])
      expect(clock.timers).toBe(0)
    }
  })

  it('never end a stream that goes on, but for the total', async () => {
    const { clock, made, expired } = watch()
    made.connecting()
    await clock.pass(50)
    made.sent()
    for (let chunk = 0; chunk < 30; chunk++) {
      await clock.pass(60)
      made.heard()
    }
    expect(expired).toEqual([])
    await clock.pass(1_000)
    expect(expired).toEqual([{ deadline: 'total', atMs: 2_000 }])
  })

  it('count before a connection is asked for only towards the total', async () => {
    const { clock, expired } = watch()
    await clock.pass(1_999)
    expect(expired).toEqual([])
    await clock.pass(1)
    expect(expired).toEqual([{ deadline: 'total', atMs: 2_000 }])
  })

  it('do not take a process that was held up for a silent peer', async () => {
    const { clock, made, expired } = watch()
    made.heard()
    for (let times = 0; times < 3; times++) {
      // The timer is due, and what the peer sent in time is read in the same round of the loop.
      await clock.pass(200)
      made.heard()
    }
    await clock.pass(199)
    expect(expired).toEqual([])
  })

  it('stand still while nothing is read, all but the total', async () => {
    const { clock, made, expired } = watch()
    made.heard()
    made.pause()
    await clock.pass(1_500)
    expect(expired).toEqual([])
    made.heard()
    await clock.pass(300)
    expect(expired).toEqual([{ deadline: 'idle', atMs: 1_701 }])
  })

  it('take a sign of life for one, but for no more than half of the whole time', async () => {
    const { clock, made, expired } = watch()
    made.sent()
    // However thick they come.
    for (let times = 0; times < 1_500; times++) {
      await clock.pass(1)
      made.alive()
    }
    expect(expired).toEqual([{ deadline: 'idle', atMs: 1_002 }])
  })

  it('begin anew with every word behind signs of life', async () => {
    const { clock, made, expired } = watch()
    for (let times = 0; times < 18; times++) {
      await clock.pass(100)
      if (times === 8) made.heard()
      else made.alive()
    }
    expect(expired).toEqual([])
  })

  it('leave no timer behind', async () => {
    const { clock, made, expired } = watch()
    made.heard()
    made.stop()
    expect(clock.timers).toBe(0)
    made.heard()
    await clock.pass(5_000)
    expect(expired).toEqual([])
  })
})
