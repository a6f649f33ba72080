import { type EntryNumber, entryNumber, type SessionId } from '#core/base/ids'
import { callKey } from '#core/session/step'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import type { MailItem } from '#core/store/queries'
import type { Entry } from '#core/store/tables/rows'
import { PROCESS_TOOL } from '../../tools/process/process.ts'
import { programId } from '../../tools/process/records.ts'
import { findOwnSchedule, SCHEDULE_TOOL, scheduleId } from '../../tools/schedule/schedule.ts'
import { askToErase } from '../sessions/control-requests.ts'

/**
 * A reminder repeats text of the entry that requested it, so it is erased with that entry. The
 * schedule is cancelled first, so that it sends nothing more. Reminders already sent are withdrawn
 * from the mailbox, or their erasure from the transcript is requested.
 *
 * Returns the schedules themselves, for the commit that erases them.
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
  const sent = new Set<string>()
  for (const id of made) {
    const schedule = await findOwnSchedule(store, sessionId, id)
    if (schedule !== undefined && schedule.fired > 0) sent.add(schedule.body)
  }
  const come = sent.size === 0 ? [] : await findCome(store, sessionId, sent)
  await askToErase(store, sessionId, come, 'a reminder of what was erased')
  return made
}

/** The schedules created by calls in these entries, including records of programs. */
function schedulesOf(sessionId: SessionId, erased: readonly Entry[]): readonly string[] {
  return erased.flatMap(({ number, kind, meta, body }) => {
    if (kind !== 'assistant') return []
    const has = (tool: string) => body === null || body.includes(tool)
    return meta.calls.flatMap((call) => {
      const asked = { key: callKey(sessionId, number, call) }
      return [
        ...(has(SCHEDULE_TOOL) ? [scheduleId(asked)] : []),
        ...(has(PROCESS_TOOL) ? [programId(asked)] : []),
      ]
    })
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

/**
 * The entries that contain sent reminders. Reads the whole transcript: a search returns only its
 * best matches, and an hourly reminder may occur more often than that.
 */
async function findCome(
  store: Store,
  sessionId: SessionId,
  bodies: ReadonlySet<string>,
): Promise<readonly EntryNumber[]> {
  const { tail = entryNumber(0) } = (await store.findSession(sessionId)) ?? {}
  const found: EntryNumber[] = []
  for (let from = 1; from <= tail; from += LIST_MAX) {
    const page = await store.readEntries({ sessionId, from: entryNumber(from), to: tail })
    for (const { number, body } of page) if (body !== null && bodies.has(body)) found.push(number)
  }
  return found
}
