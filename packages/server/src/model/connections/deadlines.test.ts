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

describe('the deadlines of a call', () => {
  it('end each phase at its own time', async () => {
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

  it('never end an active stream, except by the total', async () => {
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

  it('count only the total before a connection is requested', async () => {
    const { clock, expired } = watch()
    await clock.pass(1_999)
    expect(expired).toEqual([])
    await clock.pass(1)
    expect(expired).toEqual([{ deadline: 'total', atMs: 2_000 }])
  })

  it('do not mistake a stalled process for a silent peer', async () => {
    const { clock, made, expired } = watch()
    made.heard()
    for (let times = 0; times < 3; times++) {
      // The timer is due, and data that the peer sent in time is read in the same tick.
      await clock.pass(200)
      made.heard()
    }
    await clock.pass(199)
    expect(expired).toEqual([])
  })

  it('pause while nothing is read, except for the total', async () => {
    const { clock, made, expired } = watch()
    made.heard()
    made.pause()
    await clock.pass(1_500)
    expect(expired).toEqual([])
    made.heard()
    await clock.pass(300)
    expect(expired).toEqual([{ deadline: 'idle', atMs: 1_701 }])
  })

  it('are extended by keep-alives, but only for half of the total time', async () => {
    const { clock, made, expired } = watch()
    made.sent()
    // However frequent they are.
    for (let times = 0; times < 1_500; times++) {
      await clock.pass(1)
      made.alive()
    }
    expect(expired).toEqual([{ deadline: 'idle', atMs: 1_002 }])
  })

  it('restart with every piece of content after keep-alives', async () => {
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
