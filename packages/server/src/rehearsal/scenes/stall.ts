import type { MailNumber } from '#core/base/ids'
import type { Stage } from '../stage/stage.ts'
import { STAGE_LEASE } from '../terms.ts'

/** Nothing may start after a lease has expired; this is how long the scene watches for it. */
const BEYOND_MS = 1_200
/** Enough work to outlast a lease and that time. */
const PARCELS = 24

/**
 * A process is cut off from the store with four commits in flight, in four sessions, and continues
 * where it can. The other process takes over, and while it is working the four late commits arrive.
 */
export async function stall(stage: Stage): Promise<void> {
  const { first, second } = stage
  await stage.rest(second, true)
  const delivery = await stage.open('scene-late-delivery')
  const reply = await stage.open('scene-late-reply')
  const results = await stage.open('scene-late-results')
  const compaction = await stage.open('scene-late-compaction')
  const margin = await stage.open('scene-margin')
  await stage.fill(compaction, [1_000, 1_000])

  const late = [
    await stage.inject(first, 'deliver', 'hold', delivery),
    await stage.inject(first, 'commitReply', 'hold', reply),
    await stage.inject(first, 'commitResults', 'hold', results),
    await stage.inject(first, 'commitCompaction', 'hold', compaction),
  ]
  const sent: (readonly [string, MailNumber])[] = [
    [delivery, await stage.say(delivery, 'Who delivers this?')],
    [reply, await stage.say(reply, 'Who answers this?')],
    [results, await stage.say(results, 'use hand_over {"parcel":"scene-late"}')],
  ]
  await stage.do(compaction, 'compact')
  for (const planned of late) await stage.untilMet(planned)
  const orders = Array.from(
    { length: PARCELS },
    (_, at) => `use hand_over {"parcel":"margin-${at}"}`,
  )
  const chain = await stage.say(margin, orders.join('\nthen\n'))
  await stage.until('parcels are handed over', async () => (await stage.row(margin)).tail > 4)

  const renewal = await stage.inject(first, 'renew', 'hold')
  first.lapse()
  await stage.untilMet(renewal)
  await stage.pause(STAGE_LEASE.leaseMs + BEYOND_MS)

  const own = [
    await stage.inject(second, 'deliver', 'hold', delivery),
    await stage.inject(second, 'commitReply', 'hold', reply),
  ]
  await stage.rest(second, false)
  for (const planned of own) await stage.untilMet(planned)
  await stage.until('all are taken over', async () => {
    const rows = await Promise.all([results, compaction].map((name) => stage.row(name)))
    return rows.every(({ runner, recovered, fence }) => {
      return runner === second.runners.at(-1) && recovered === fence
    })
  })

  for (const planned of [...late, renewal]) stage.release(planned)
  await stage.pause(400)
  for (const planned of own) stage.release(planned)
  for (const [name, mail] of [...sent, [margin, chain] as const]) await stage.ended(name, mail)
}
