import { isId, sessionId } from '#core/base/ids'
import { readRange } from '#core/session/context/source'
import type { Reads } from '#core/store/contract'
import { pathTo } from '#core/store/fold'
import { handoffText } from './handoff-text.ts'
import { handoffLimits, isConversation } from './prepare.ts'
import { writeClientDigest } from './write-digest.ts'

/**
 * A handoff over the client's whole conversation, and the size of a request that begins with it:
 * clients count their system text and tools too. Null: no such session.
 */
export async function handoffForClient(
  store: Reads,
  id: string,
  windowTokens: number,
): Promise<{ readonly text: string; readonly tokens: number } | null> {
  const row = isId(id) ? await store.findSession(sessionId(id)) : undefined
  if (row === undefined || row.tail === 0) return null
  const entries = await readRange(store, row.id, 0, row.tail)
  const isVisible = pathTo(
    entries.filter(({ kind }) => kind === 'revert'),
    row.tail,
  )
  const path = entries.filter((entry) => isConversation(entry) && isVisible(entry.number))
  const last = path.at(-1)
  if (last === undefined) return null
  const reply = await writeClientDigest({
    ...{ entries: path, covers: last.number, upto: last.number },
    ...{ limits: handoffLimits(windowTokens), isWanted: true },
  })
  if (reply.kind === 'failed') return null
  const fixedTokens = entries.findLast(({ kind }) => kind === 'settings')?.tokens ?? 0
  return { text: handoffText(reply.handoff), tokens: reply.tokens + fixedTokens }
}
