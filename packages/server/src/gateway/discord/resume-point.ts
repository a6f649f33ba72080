import type { MailNumber } from '#core/base/ids'
import type { Reads } from '#core/store/contract'
import type { Route } from '#core/store/tables/rows'
import { isLater } from './feed.ts'

/**
 * The newest durable message of a channel, found in the mail of its session: every admitted message
 * has Discord's id as its key. Nothing extra is stored for this.
 */
export type MailReads = Pick<Reads, 'findRoute' | 'findSession' | 'listMail'>

const PAGE = 200
const PAGES_MAX = 10
const MESSAGE_KEY = /^\d{1,20}/
const EPOCH_MS = 1_420_070_400_000
/** Clocks differ, so some messages are read twice, which is harmless. */
const OVERLAP_MS = 60_000

export async function findMark(store: MailReads, route: Route): Promise<string | null> {
  const sessionId = (await store.findRoute(route))?.sessionId
  const session = sessionId === undefined ? undefined : await store.findSession(sessionId)
  if (sessionId === undefined || session === undefined) return null
  let end: number = session.mail
  for (let page = 0; page < PAGES_MAX && end > 0; page++) {
    const after = Math.max(0, end - PAGE)
    const query = { sessionId, after: after as MailNumber, limit: end - after }
    const ids = (await store.listMail(query))
      // A command does not admit the messages before it.
      .filter(({ source, lane }) => source === route.channel && lane !== 'control')
      .flatMap(({ key }) => MESSAGE_KEY.exec(key ?? '') ?? [])
    const newest = ids.reduce<string | null>(
      (found, id) => (found === null || isLater(id, found) ? id : found),
      null,
    )
    if (newest !== null) return newest
    end = after
  }
  // The session has just started, or its mail was erased.
  return snowflakeAt(session.createdAt - OVERLAP_MS)
}

/** The lowest id of a moment: Discord's ids begin with the time. */
export function snowflakeAt(atMs: number): string {
  return String(BigInt(Math.max(0, atMs - EPOCH_MS)) << 22n)
}

/** The time of a message, from its id. */
export function timeOf(id: string): number {
  return Number(BigInt(id) >> 22n) + EPOCH_MS
}
