import { type SessionId, sessionId } from '../../base/ids.ts'
import type { Commits, Reads } from '../../store/contract.ts'
import type { ScheduleRow } from '../../store/standing.ts'
import { idFor } from '../own-mail.ts'
import type { ToolCall } from '../tool.ts'
import { bodyOf, fromOf } from './signs.ts'

/**
 * Messages that are kept but wake nobody. A held message is a durable timer of the receiver that
 * never comes due: it stands in the store, goes with its session, and admits its mail exactly once
 * when it is fired. It is fired when anything else has arrived in the receiver's mailbox.
 */
const PREFIX = 'held'
/** The last moment that a Date can tell. */
const NEVER = 8_640_000_000_000_000
const LIST_LIMIT = 200

export function heldId(call: Pick<ToolCall, 'key'>): string {
  return idFor(PREFIX, call)
}

export function isHeld({ id }: Pick<ScheduleRow, 'id'>): boolean {
  return id.startsWith(`${PREFIX}-`)
}

/** `since`: the newest mail of the receiver when the message was kept. */
export function holding(since: number): { readonly dueAt: number; readonly repeat: string } {
  return { dueAt: NEVER, repeat: `${PREFIX} ${since}` }
}

/** All messages held for a session, fired ones included. */
export async function readHeld(
  store: Pick<Reads, 'listSchedules'>,
  sessionId: SessionId,
): Promise<readonly ScheduleRow[]> {
  const rows = await store.listSchedules({ sessionId, after: `${PREFIX}-`, limit: LIST_LIMIT })
  return rows.filter(isHeld)
}

export function isFrom(row: ScheduleRow, sender: SessionId): boolean {
  return fromOf(bodyOf(row.body))?.sessionId === sender
}

/** Fires what has waited for something else to arrive; gives the sessions that got mail. */
export async function releaseHeld(
  store: Pick<Commits & Reads, 'listSchedules' | 'fireSchedule' | 'findSession'>,
): Promise<readonly SessionId[]> {
  const page = { state: 'waiting', after: `${PREFIX}-`, limit: LIST_LIMIT } as const
  const rows = (await store.listSchedules(page)).filter(isHeld)
  const woken = new Set<SessionId>()
  for (const id of new Set(rows.map((row) => row.sessionId))) {
    const session = await store.findSession(sessionId(id))
    const of = rows.filter((row) => row.sessionId === id)
    const isDue = session === undefined || of.some((row) => session.mail > sinceOf(row))
    if (!isDue) continue
    for (const row of of.toSorted((a, b) => a.at - b.at)) {
      const { id: schedule, dueAt } = row
      const outcome = await store.fireSchedule({ id: schedule, dueAt, nextDueAt: null })
      if (outcome.kind === 'full') break
      if (outcome.kind === 'fired') woken.add(outcome.sessionId)
    }
  }
  return [...woken]
}

function sinceOf({ repeat }: ScheduleRow): number {
  return Number(repeat?.slice(PREFIX.length + 1) ?? 0)
}
