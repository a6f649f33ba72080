import type { EntryNumber } from '#core/base/ids'
import { isObject, type JsonValue } from '#core/base/json'
import type { Reads } from '#core/store/contract'
import type { Route } from '#core/store/tables/rows'
import { SEND_MESSAGE } from '../../tools/send-message/recent-events.ts'

type SessionReads = Pick<Reads, 'findRoute' | 'findSession' | 'readEntries'>

/** Enough for any rule, which looks only at tool calls between the last few messages. */
const ENTRIES_READ = 128

/**
 * When our bot, or another bot in the same store, last called a tool in the sessions of one
 * channel. Of bots elsewhere, only their messages are known.
 */
export async function findLastToolCall(
  store: SessionReads,
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
      const at = await lastActAt(store, { agent, channel: `discord:${bot}`, address })
      if (at !== null && (last === null || at > last)) last = at
    }
  }
  return last
}

async function lastActAt(store: SessionReads, route: Route): Promise<number | null> {
  const sessionId = (await store.findRoute(route))?.sessionId
  const session = sessionId === undefined ? undefined : await store.findSession(sessionId)
  if (sessionId === undefined || session === undefined) return null
  const from = Math.max(1, session.tail - ENTRIES_READ + 1) as EntryNumber
  const entries = await store.readEntries({ sessionId, from, to: session.tail })
  return entries.findLast(({ kind, body }) => kind === 'assistant' && callsTool(body))?.at ?? null
}

/** A message sent by a tool counts as a message, and is judged in the channel where it arrives. */
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
