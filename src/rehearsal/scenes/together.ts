import type { Stage } from '../stage.ts'

/** Two processes that could both have a session. */

const HOUR_MS = 3_600_000

/** Whoever decided to take a session on an old picture of it is too late. */
export async function oldPicture(stage: Stage): Promise<void> {
  const { first, second } = stage
  const name = await stage.open('scene-picture')
  await stage.rest(first, true)
  const acquiring = await stage.aim(second, 'acquire', 'hold', name)
  try {
    const mail = await stage.tell(name, 'Who takes this?')
    await stage.rest(second, false)
    await stage.untilMet(acquiring)
    await stage.rest(first, false)
    await stage.ended(name, mail)
    await stage.untilFree(name)
  } finally {
    stage.release(acquiring)
    await stage.rest(first, false)
  }
  await stage.pause(300)
  await stage.rest(second, true)
}

/** A clock is set forward by an hour, and back: nobody's lease ends by that. */
export async function jumpedClock(stage: Stage): Promise<void> {
  const { second } = stage
  const name = await stage.open('scene-clock')
  stage.model.spoil(name, 'latency; ms=1200')
  const mail = await stage.tell(name, 'What time is it?')
  await stage.untilTurn(name)
  second.order({ verb: 'clock', aheadMs: HOUR_MS })
  await stage.ended(name, mail)
  second.order({ verb: 'clock', aheadMs: 0 })
  stage.model.heal(name)
  await stage.ended(name, await stage.tell(name, 'And now?'))
}
