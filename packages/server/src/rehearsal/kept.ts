import { existsSync, readFileSync } from 'node:fs'
import { entryNumber, mailNumber } from '#core/base/ids'
import { LIST_MAX } from '#core/store/bounds'
import type { Reads } from '#core/store/contract'
import type { MailItem } from '#core/store/queries'
import type { Entry, SessionRow } from '#core/store/tables/rows'
import type { KeptSession } from './laws/judge.ts'
import type { RehearsedSession } from './laws/transcript-laws.ts'
import type { Watcher } from './watcher.ts'

/** Every session of the store with its whole transcript. */
export async function readKept(store: Reads, watcher: Watcher): Promise<readonly KeptSession[]> {
  const kept: KeptSession[] = []
  for (const row of await store.listSessions({ limit: LIST_MAX })) {
    const entries = await readEntries(store, row)
    const { compactions, torn, meanwhile } = watcher.of(row.id)
    kept.push({ agent: row.id, entries, compactions, torn, meanwhile })
  }
  return kept
}

export async function readEntries(
  store: Reads,
  { id, tail }: SessionRow,
): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for (let from = 1; from <= tail; from += LIST_MAX) {
    const to = Math.min(tail, from + LIST_MAX - 1)
    const range = { sessionId: id, from: entryNumber(from), to: entryNumber(to) }
    entries.push(...(await store.readEntries(range)))
  }
  return entries
}

/** Everything that the store has of each session. */
export async function readStored(store: Reads): Promise<readonly RehearsedSession[]> {
  const stored: RehearsedSession[] = []
  for (const row of await store.listSessions({ limit: LIST_MAX })) {
    const query = { sessionId: row.id, limit: LIST_MAX }
    stored.push({
      row,
      entries: await readEntries(store, row),
      mail: await readMail(store, row),
      operations: await store.listOperations(query),
      replies: await store.listReplies(query),
    })
  }
  return stored
}

async function readMail(store: Reads, { id, mail }: SessionRow): Promise<readonly MailItem[]> {
  const items: MailItem[] = []
  for (let after = 0; after < mail; after += LIST_MAX) {
    const query = { sessionId: id, after: mailNumber(after), limit: LIST_MAX }
    items.push(...(await store.listMail(query)))
  }
  return items
}

/** Describes what still waits, runs or is being written. */
export async function findUnfinished(
  store: Reads,
  agents: readonly string[],
): Promise<readonly string[]> {
  const unfinished: string[] = []
  for (const row of await store.listSessions({ state: 'open', limit: LIST_MAX })) {
    // No process runs an unknown session; another law checks that there is none.
    if (!agents.includes(row.id)) continue
    const { control, user, notification } = row.pending
    const waiting = control + user + notification
    if (waiting > 0) unfinished.push(`${row.id}: ${waiting} messages wait`)
    if (row.turnState === 'running') unfinished.push(`${row.id}: turn ${row.turn} runs`)
    if (row.operation !== null) unfinished.push(`${row.id}: ${row.operation} runs`)
  }
  return unfinished
}

/** The lines of a file outside the store; a file that does not exist yet is empty. */
export function readLines(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
}
