import type { Stage } from '../stage/stage.ts'

/** Two processes compete for a session. */

const HOUR_MS = 3_600_000

/** A process that decided to acquire a session on an old view of it comes too late. */
export async function oldPicture(stage: Stage): Promise<void> {
  const { first, second } = stage
  const name = await stage.open('scene-picture')
  await stage.rest(first, true)
  const acquiring = await stage.inject(second, 'acquire', 'hold', name)
  try {
    const mail = await stage.say(name, 'Who takes this?')
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

/** Clocks jump forward by an hour, and back: no lease ends because of that. */
export async function jumpedClock(stage: Stage): Promise<void> {
  const name = await stage.open('scene-clock')
  stage.model.spoil(name, 'latency; ms=1500')
  const mail = await stage.say(name, 'What time is it?')
  await stage.until('it is asked', () => stage.model.requestsOf(name).length > 0)
  const { fence } = await stage.row(name)
  const setClocks = (aheadMs: number) => {
    for (const handle of [stage.first, stage.second]) handle.order({ verb: 'clock', aheadMs })
  }
  setClocks(HOUR_MS)
  await stage.ended(name, mail)
  const asked = stage.model.requestsOf(name).length
  if ((await stage.row(name)).fence !== fence || asked > 1) {
    stage.broken('held', `${name}: the clocks were set, and its holder gave it up`)
  }
  setClocks(0)
  stage.model.heal(name)
  await stage.ended(name, await stage.say(name, 'And now?'))
}
