import type { ProcessHandle } from '../stage/process-handle.ts'
import type { Stage } from '../stage/stage.ts'
import { LOSSES_MAX } from '../terms.ts'

/** Processes that are killed at the worst moment. */

/**
 * One kill at four bad moments at once: after an effect and before its commit, after a stop and
 * before the end of its turn, during a compaction, and after a reply was sent.
 */
export async function death(stage: Stage): Promise<void> {
  const { first, second } = stage
  const effect = await stage.open('scene-effect')
  const stopped = await stage.open('scene-stopped')
  const torn = await stage.open('scene-torn')
  const sent = await stage.open('scene-sent')
  await stage.fill(torn, [1_000, 1_000])

  const handing = await stage.inject(first, 'commitResults', 'hold', effect)
  const parcel = await stage.say(effect, 'use hand_over {"parcel":"scene-effect"}')
  // Either process could send it; the second one is kept from doing so.
  const claiming = await stage.inject(second, 'claimReply', 'hold')
  const settling = await stage.inject(first, 'settleReply', 'hold', sent)
  await stage.say(sent, 'say Here you are.', { address: 'home' })
  stage.model.spoil(stopped, 'latency; ms=60000')
  const endless = await stage.say(stopped, 'This one takes too long.')
  stage.model.spoilSummary(torn, 'latency; ms=60000')
  await stage.do(torn, 'compact')
  const operation = await stage.running(torn)
  await stage.untilTurn(stopped)
  const ending = await stage.inject(first, 'commitReply', 'hold', stopped)
  await stage.stop(stopped)
  for (const planned of [handing, settling, ending]) await stage.untilMet(planned)

  const repeating = await stage.inject(second, 'recover', 'repeat', effect)
  await first.kill()
  stage.model.heal(stopped)
  stage.model.heal(`summary of ${torn}`)
  stage.release(claiming)
  await stage.rest(second, false)
  stage.restart(first)
  await stage.untilMet(repeating)
  await stage.ended(effect, parcel)
  const ended = await stage.ended(stopped, endless)
  if (ended !== 'stopped') {
    stage.broken('stopped', `${stopped}: stopped, then killed, and the turn ended ${ended}`)
  }
  const { state } = await stage.outcome(torn, operation)
  if (state !== 'abandoned') stage.broken('written', `${torn}: its owner is dead, it is ${state}`)
  await stage.until('the reply is sent once more', async () => {
    const { id } = await stage.row(sent)
    const [row] = await stage.store.listReplies({ sessionId: id, limit: 1 })
    return row === undefined || row.state === 'sent'
  })
}

/** A turn is given up after this many: its first attempt and each allowed recovery. */
const DEATHS = LOSSES_MAX + 1

/** A message that kills every process that takes it. */
export async function poison(stage: Stage): Promise<void> {
  const { model } = stage
  const name = await stage.open('scene-poison')
  let tasted = 0
  model.onRequest = (agent) => {
    if (agent === name) tasted += 1
  }
  model.spoil(name, 'latency; ms=60000')
  const mail = await stage.say(name, 'Poison.')
  for (let deaths = 0; deaths < DEATHS; deaths++) {
    await stage.until(`${name} is tasted ${deaths + 1} times`, () => tasted > deaths)
    const handle = await holderOf(stage, name)
    const other = handle === stage.first ? stage.second : stage.first
    await stage.until('the other process is there', () => other.isReady)
    await handle.kill()
    stage.restart(handle)
  }
  const isOver = async () => (await stage.row(name)).turnState === 'idle'
  await stage.until(`${name} is given up`, async () => tasted > DEATHS || (await isOver()))
  if (tasted > DEATHS) {
    stage.broken('spared', `${name}: taken up once more behind ${DEATHS} deaths`)
    return
  }
  const taken = (await stage.entries(name)).find((entry) => entry.kind === 'input')
  const { seen } = await stage.row(name)
  if (seen < (taken?.number ?? 0)) {
    stage.broken('spared', `${name}: what was given up still counts as news for the next turn`)
  }
  model.heal(name)
  const next = await stage.say(name, 'Water, please.')
  const ends = [await stage.ended(name, mail), await stage.ended(name, next)]
  // The last one is the water.
  if (tasted > DEATHS + 1) stage.broken('spared', `${name}: taken up ${tasted - 1} times`)
  if (ends.join() !== 'failed,answered') stage.broken('spared', `${name}: turns ended ${ends}`)
}

async function holderOf(stage: Stage, name: string): Promise<ProcessHandle> {
  let found: ProcessHandle | undefined
  await stage.until(`somebody holds ${name}`, async () => {
    const { runner } = await stage.row(name)
    found = [stage.first, stage.second].find((handle) => handle.runners.at(-1) === runner)
    return found?.isReady === true
  })
  if (found === undefined) throw new Error('nobody')
  return found
}
