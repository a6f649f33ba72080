import type { SessionId } from '../base/ids.ts'
import { LIST_MAX } from '../store/bounds.ts'
import type { Store } from '../store/contract.ts'
import type { MailItem } from '../store/queries.ts'
import type { Entry } from '../store/rows.ts'
import { textOf } from '../store/search/words.ts'
import type { ScheduleRow } from '../store/standing.ts'
import { SCHEDULE_TOOL, scheduleId } from '../tools/schedule/schedule.ts'
import { callKey } from '../tools/tool.ts'
import { askToErase } from './asking.ts'

/**
 * What an agent asked to be told later repeats what it was told before, so it goes with the entry
 * that asked for it. The schedule is cancelled first: nothing more is sent then. What it has sent is
 * taken back from the mailbox, or asked to be erased where it stands in the transcript.
 *
 * Gives the schedules themselves, for the commit that erases.
 */
export async function forgetReminders(
  store: Store,
  sessionId: SessionId,
  erased: readonly Entry[],
): Promise<readonly string[]> {
  const made: string[] = []
  for (const id of schedulesOf(sessionId, erased)) {
    if ((await store.cancelSchedule({ id })).kind === 'done') made.push(id)
  }
  if (made.length === 0) return made
  await takeBack(store, sessionId, made)
  const sent = new Set<Entry['number']>()
  for (const id of made) {
    const schedule = await findSchedule(store, sessionId, id)
    for (const { number } of await findSent(store, schedule)) sent.add(number)
  }
  await askToErase(store, sessionId, [...sent], 'a reminder of what was erased')
  return made
}

/** The schedules that calls in these entries have made, if they made any. */
function schedulesOf(sessionId: SessionId, erased: readonly Entry[]): readonly string[] {
  return erased.flatMap(({ number, kind, meta, body }) => {
    if (kind !== 'assistant' || !(body === null || body.includes(SCHEDULE_TOOL))) return []
    return meta.calls.map((call) => scheduleId({ key: callKey(sessionId, number, call) }))
  })
}

async function takeBack(
  store: Store,
  sessionId: SessionId,
  schedules: readonly string[],
): Promise<void> {
  const isSent = ({ source, key }: MailItem) =>
    source === 'schedule' && schedules.includes(key?.split(' ')[0] ?? '')
  const query = { sessionId, lane: 'notification', state: 'pending', limit: LIST_MAX } as const
  for (let page = await store.listMail(query); ; ) {
    for (const { number: mail } of page.filter(isSent)) await store.withdraw({ sessionId, mail })
    const after = page.at(-1)?.number
    if (after === undefined || page.length < LIST_MAX) return
    page = await store.listMail({ ...query, after })
  }
}

/** Ids are listed in their order, and those that share all but the last character are few. */
async function findSchedule(
  store: Store,
  sessionId: SessionId,
  id: string,
): Promise<ScheduleRow | undefined> {
  const near = await store.listSchedules({ sessionId, after: id.slice(0, -1), limit: 64 })
  return near.find((row) => row.id === id)
}

/** The entries in which it has come, as far as one page of what is found by its words. */
async function findSent(
  store: Store,
  schedule: ScheduleRow | undefined,
): Promise<readonly Entry[]> {
  if (schedule === undefined || schedule.fired === 0) return []
  const { sessionId, body } = schedule
  const asked = { sessionId, text: textOf({ body }), limit: LIST_MAX, neighbours: 0 }
  const hits = await store.search(asked)
  return hits.map(({ entry }) => entry).filter((entry) => entry.body === body)
}
