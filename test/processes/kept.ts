import {
  type EntryNumber,
  entryNumber,
  type MailNumber,
  mailNumber,
  sessionId,
} from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import type { MailItem } from '../../packages/core/src/store/queries.ts'
import type {
  AuditRow,
  Entry,
  ReplyRow,
  SessionRow,
} from '../../packages/core/src/store/tables/rows.ts'

/** What the store keeps of one session, read page by page for the checker. */
export interface Kept {
  readonly session: SessionRow
  readonly mail: readonly MailItem[]
  readonly entries: readonly Entry[]
  readonly replies: readonly ReplyRow[]
}

export async function readKept(store: Store, session: SessionRow): Promise<Kept> {
  const { id } = session
  const replies = await store.listReplies({ sessionId: id, limit: 1_000 })
  const mail = await readMail(store, id)
  return { session, mail, entries: await readEntries(store, session), replies }
}

async function readMail(store: Store, id: string): Promise<readonly MailItem[]> {
  const mail: MailItem[] = []
  for (let after: MailNumber = mailNumber(0); ; ) {
    const page = await store.listMail({ sessionId: sessionId(id), after, limit: 1_000 })
    mail.push(...page)
    const last = page.at(-1)
    if (last === undefined) return mail
    after = last.number
  }
}

async function readEntries(store: Store, { id, tail }: SessionRow): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for (let from = 1; from <= tail; from += 1_000) {
    const to: EntryNumber = entryNumber(Math.min(tail, from + 999))
    entries.push(...(await store.readEntries({ sessionId: id, from: entryNumber(from), to })))
  }
  return entries
}

export async function readAudit(store: Store): Promise<readonly AuditRow[]> {
  const rows: AuditRow[] = []
  for (;;) {
    const page = await store.readAudit({ after: rows.at(-1)?.cursor ?? 0, limit: 1_000 })
    if (page.length === 0) return rows
    rows.push(...page)
  }
}
