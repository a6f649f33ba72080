import type { CommitVerb } from '#core/store/contract'
import { NotInTime, type Stage } from '../stage/stage.ts'

/** A bad connection to the store: lost answers and repeated requests. */

const OF_A_TURN: readonly CommitVerb[] = ['deliver', 'commitReply', 'commitResults']
const OF_A_COMPACTION: readonly CommitVerb[] = ['claimCompaction', 'commitCompaction']

export async function lost(stage: Stage): Promise<void> {
  await badLine(stage, 'scene-lost', 'lose')
}

export async function twice(stage: Stage): Promise<void> {
  await badLine(stage, 'scene-twice', 'repeat')
}

async function badLine(stage: Stage, name: string, fault: 'lose' | 'repeat'): Promise<void> {
  await stage.open(name)
  for (const verb of OF_A_TURN) {
    const met = await stage.inject(stage.first, verb, fault, name)
    await stage.ended(name, await stage.say(name, `use hand_over {"parcel":"${name}-${verb}"}`))
    await stage.untilMet(met)
  }
  await stage.fill(name, [1_000, 1_000])
  // Long enough that a second claim finds the first one still running.
  stage.model.spoilSummary(name, 'latency; ms=500')
  const met: string[] = []
  for (const verb of OF_A_COMPACTION) met.push(await stage.inject(stage.first, verb, fault, name))
  await stage.compact(name)
  for (const each of met) await stage.untilMet(each)
  await stage.ended(name, await stage.say(name, 'All well?'))
  // A repeated request comes a moment later.
  await stage.pause(400)
}

/** A receiver that accepts nothing for a while, and a claim whose answer was lost. */
export async function replies(stage: Stage): Promise<void> {
  const name = await stage.open('scene-replies')
  const address = 'home'
  const both = [stage.first, stage.second]
  for (const handle of both) handle.order({ verb: 'edge', isOpen: false })
  for (let at = 1; at <= 4; at++) {
    await stage.ended(name, await stage.say(name, `say Reply ${at}.`, { address }))
  }
  for (const handle of both) handle.order({ verb: 'edge', isOpen: true })
  await untilSent(stage, name, 4)
  const met: string[] = []
  for (const handle of both) met.push(await stage.inject(handle, 'claimReply', 'lose'))
  await stage.ended(name, await stage.say(name, 'say The last one.', { address }))
  await untilSent(stage, name, 5)
  for (const planned of met) stage.release(planned)
}

/** The file that the receiver wrote shows the order and the number of sends. */
async function untilSent(stage: Stage, name: string, count: number): Promise<void> {
  let left = count
  const isSent = async () => {
    const { id } = await stage.row(name)
    const rows = await stage.store.listReplies({ sessionId: id, limit: 100 })
    left = count - rows.filter(({ state }) => state === 'sent').length
    return left === 0
  }
  await stage.until(`${count} replies of ${name} are sent`, isSent).catch((error: unknown) => {
    if (!(error instanceof NotInTime)) throw error
    stage.broken('sent', `${name}: ${left} of ${count} replies were never sent`)
  })
}
