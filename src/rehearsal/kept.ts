import { entryNumber } from '../base/ids.ts'
import { LIST_MAX } from '../store/bounds.ts'
import type { Reads } from '../store/contract.ts'
import type { SessionRow } from '../store/rows.ts'
import type { KeptSession } from './judge.ts'
import type { Watcher } from './watcher.ts'

/** Every session of the store with its whole transcript, however it came there. */
export async function readKept(store: Reads, watcher: Watcher): Promise<readonly KeptSession[]> {
  const kept: KeptSession[] = []
  for (const row of await store.listSessions({ limit: LIST_MAX })) {
    const entries = await readEntries(store, row)
    const { compactions, torn, meanwhile } = watcher.of(row.id)
    kept.push({ agent: row.id, entries, compactions, torn, meanwhile })
  }
  return kept
}

async function readEntries(store: Reads, { id, tail }: SessionRow) {
  const entries: KeptSession['entries'][number][] = []
  for (let from = 1; from <= tail; from += LIST_MAX) {
    const to = Math.min(tail, from + LIST_MAX - 1)
    const range = { sessionId: id, from: entryNumber(from), to: entryNumber(to) }
    entries.push(...(await store.readEntries(range)))
  }
  return entries
}

/** What still waits, runs or is being written, in words. */
export async function findUnrest(
  store: Reads,
  agents: readonly string[],
): Promise<readonly string[]> {
  const unrest: string[] = []
  for (const row of await store.listSessions({ state: 'open', limit: LIST_MAX })) {
    // Nobody runs a session that nobody made; that it is there is another law's matter.
    if (!agents.includes(row.id)) continue
    const { control, user, notification } = row.pending
    const waiting = control + user + notification
    if (waiting > 0) unrest.push(`${row.id}: ${waiting} messages wait`)
    if (row.turnState === 'running') unrest.push(`${row.id}: turn ${row.turn} runs`)
    if (row.operation !== null) unrest.push(`${row.id}: ${row.operation} runs`)
  }
  return unrest
}
