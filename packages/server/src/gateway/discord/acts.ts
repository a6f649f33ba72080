import type { EntryNumber, SessionId } from '#core/base/ids'
import { isObject, type JsonValue } from '#core/base/json'
import { SEND_MESSAGE } from '../../tools/send-message/signs.ts'

/** The store has these verbs. */
export interface ActRecord {
  findRoute(route: RouteKey): Promise<{ readonly sessionId: SessionId } | undefined>
  findSession(id: SessionId): Promise<{ readonly tail: EntryNumber } | undefined>
  readEntries(query: {
    readonly sessionId: SessionId
    readonly from: EntryNumber
    readonly to: EntryNumber
  }): Promise<
    readonly { readonly kind: string; readonly at: number; readonly body: string | null }[]
  >
}

interface RouteKey {
  readonly agent: string
  readonly channel: string
  readonly address: string
}

/** Enough for any rule: what was done earlier is not between the last few messages. */
const ENTRIES_READ = 128

/**
 * When somebody last called a tool in the sessions of one channel: ours, and those of other bots that
 * live in the same store. Of bots that live elsewhere nothing is known but their words.
 */
export async function findLastAct(
  record: ActRecord,
  channel: {
    readonly agents: readonly string[]
    readonly bots: readonly string[]
    address: string
  },
): Promise<number | null> {
  const { agents, bots, address } = channel
  let last: number | null = null
  for (const agent of agents) {
    for (const bot of bots) {
      const at = await lastActAt(record, { agent, channel: `discord:${bot}`, address })
      if (at !== null && (last === null || at > last)) last = at
    }
  }
  return last
}

async function lastActAt(record: ActRecord, route: RouteKey): Promise<number | null> {
  const sessionId = (await record.findRoute(route))?.sessionId
  const session = sessionId === undefined ? undefined : await record.findSession(sessionId)
  if (sessionId === undefined || session === undefined) return null
  const from = Math.max(1, session.tail - ENTRIES_READ + 1) as EntryNumber
  const entries = await record.readEntries({ sessionId, from, to: session.tail })
  return entries.findLast(({ kind, body }) => kind === 'assistant' && callsTool(body))?.at ?? null
}

/** A message sent by a tool is a word as well, and judged where it arrives. */
function callsTool(body: string | null): boolean {
  const value = body === null ? null : (JSON.parse(body) as JsonValue)
  const parts = isObject(value) ? value['parts'] : undefined
  return (
    Array.isArray(parts) &&
    parts.some(
      (part: JsonValue) =>
        isObject(part) && part['type'] === 'tool-call' && part['name'] !== SEND_MESSAGE,
    )
  )
}
