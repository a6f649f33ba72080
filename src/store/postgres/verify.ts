import type { EntryNumber, SessionId } from '../../base/ids.ts'
import { sha256 } from '../canonical.ts'
import type { Finding } from '../queries.ts'
import { findAuditDamage, orUnreadable, TranscriptCheck } from '../verify.ts'
import { type Connections, inSnapshot, type Loan } from './connections.ts'
import { AUDIT_COLUMNS, decodeAudit, decodeEntry, ENTRY, SESSION, toText } from './tables.ts'

const PAGE = 500

/** A snapshot per session, so that a long check does not keep the server from tidying up. */
export async function verifyStore(
  connections: Connections,
  { sessionId }: { readonly sessionId?: SessionId },
): Promise<readonly Finding[]> {
  const ids = await connections.query({
    text: 'select id from session where id = coalesce($1, id) order by n',
    values: [sessionId === undefined ? null : toText(sessionId)],
  })
  const findings: Finding[] = []
  for (const row of ids) {
    const id = row['id'] as SessionId
    findings.push(...(await inSnapshot(connections, (loan) => verifySession(loan, id))))
  }
  return [...findings, ...(await inSnapshot(connections, verifyAudit))]
}

async function verifySession(loan: Loan, id: SessionId): Promise<readonly Finding[]> {
  const [[row] = []] = await loan.send([
    { text: `select ${SESSION.columns} from session where id = $1`, values: [id] },
  ])
  if (row === undefined) return []
  const session = orUnreadable(() => SESSION.decode(row))
  if (session === null) {
    return [{ sessionId: id, entry: null, problem: 'session row cannot be read' }]
  }
  const check = new TranscriptCheck(session)
  for (let from = 1; ; from += PAGE) {
    const [page = []] = await loan.send([
      {
        text: `select ${ENTRY.columns} from entry
          where session = $1 and number between $2 and $3 order by number`,
        values: [id, from, from + PAGE - 1],
      },
    ])
    for (const columns of page) {
      const entry = orUnreadable(() => decodeEntry(columns))
      if (entry === null) check.addUnreadable(columns['number'] as EntryNumber)
      else check.add(entry)
    }
    if (page.length === 0 && from > session.tail) return check.end()
  }
}

async function verifyAudit(loan: Loan): Promise<readonly Finding[]> {
  const [[store] = []] = await loan.send([
    { text: 'select id from store where one = 1', values: [] },
  ])
  const findings: Finding[] = []
  let prevHash: string | null = sha256(String(store?.['id']))
  let cursor = 0
  for (;;) {
    const [page = []] = await loan.send([
      {
        text: `select ${AUDIT_COLUMNS} from audit where cursor > $1 order by cursor limit $2`,
        values: [cursor, PAGE],
      },
    ])
    if (page.length === 0) return findings
    for (const columns of page) {
      const row = orUnreadable(() => decodeAudit(columns))
      const number = columns['cursor'] as number
      const expected = cursor + 1
      const problem = findAuditDamage(row, { cursor: number, expected, prevHash })
      if (problem !== null) findings.push({ sessionId: null, entry: null, problem })
      cursor = number
      prevHash = row?.hash ?? null
    }
  }
}
