import { systemClock } from '../../packages/core/src/base/clock.ts'
import { entryNumber, sessionId } from '../../packages/core/src/base/ids.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { readBody } from '../../packages/server/src/proxy/body.ts'
import {
  findPosition,
  locate,
  readHistory,
  unitCount,
} from '../../packages/server/src/proxy/history.ts'
import { anthropicWire } from '../../packages/server/src/proxy/wire/anthropic.ts'
import { ClientSessions } from '../../packages/server/src/runtime/client-sessions/client-sessions.ts'

/** What a store holds of a client's session, beside what the client itself sent last. */
export interface StoreFacts {
  readonly sessions: number
  readonly entries: number
  readonly compactions: number
  readonly rewinds: number
  /** Units of the client's last request that are not in the store. */
  readonly lost: number
  /** Units on the present path beyond that request: its answer. */
  readonly beyond: number
  readonly findings: number
}

export async function readStoreFacts(
  path: string,
  client: string,
  session: string,
  lastBody: string,
): Promise<StoreFacts> {
  const store = await openSqliteStore({ path })
  try {
    const id = sessionId(`${client}-${session}`)
    const row = await store.findSession(id)
    const tail = row?.tail ?? 0
    const kinds: string[] = []
    for (let from = 1; from <= tail; from += 1_000) {
      const to = entryNumber(Math.min(tail, from + 999))
      const page = await store.readEntries({ sessionId: id, from: entryNumber(from), to })
      kinds.push(...page.map(({ kind }) => kind))
    }
    const sessions = new ClientSessions({ store, clock: systemClock })
    const body = readBody(Buffer.from(lastBody), 'messages')
    if (body === undefined) throw new Error('the last request is not readable')
    const history = readHistory(body, anthropicWire)
    const identity = { client, session, agent: null, parent: null }
    const found = await sessions.find(identity, history, null)
    const placed = found && findPosition(found, history)
    if (!found || !placed) throw new Error(`there is no session ${id}`)
    const whole = unitCount(placed)
    const facts = {
      sessions: (await store.listSessions({ limit: 100 })).length,
      entries: tail,
      compactions: kinds.filter((kind) => kind === 'compaction').length,
      rewinds: kinds.filter((kind) => kind === 'revert').length,
      lost: whole - locate(found.tree, placed).depth,
      beyond: found.tree.head.depth - whole,
      findings: (await store.verify({})).length,
    }
    await sessions.close()
    return facts
  } finally {
    await store.close()
  }
}
