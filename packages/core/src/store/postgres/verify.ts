import type { EntryNumber, MailNumber, SessionId } from '../../base/ids.ts'
import { orUnreadable } from '../integrity/damaged-row.ts'
import type { StoreFinding } from '../queries.ts'
import type { MailRow, SessionRow } from '../tables/rows.ts'
import { AuditCheck, type Counted, stateFinding } from '../verify/audit.ts'
import {
  CHANGED_SENDER,
  CHANGED_SESSION,
  changedBlob,
  changedOperation,
  changedRow,
  MANY_SEALED_KEYS,
  SEALED_KEYS,
  withoutRepeats,
} from '../verify/changed-rows.ts'
import { type KeyMemory, keyHashOf, SessionCheck, unreadableSession } from '../verify/session.ts'
import type { Prefix } from '../verify/transcript.ts'
import { type Connections, inSnapshot, type LoanedClient } from './connections/connections.ts'
import { findNotDeleted, findUnrecorded } from './erasures/records.ts'
import { CHAIN_END } from './maintenance.ts'
import {
  AUDIT_COLUMNS,
  type Columns,
  decodeAudit,
  fromText,
  POSTGRES,
  POSTGRES_HEAD_COLUMNS,
  SEALED_BLOB,
  toBytes,
  toText,
} from './tables.ts'

const PAGE = 500

/** One snapshot per session, so that a long check does not hold up the server's vacuum. */
export async function verifyPostgres(
  connections: Connections,
  { sessionId }: { readonly sessionId?: SessionId | null },
): Promise<readonly StoreFinding[]> {
  if (sessionId === null) {
    return [
      ...(await inSnapshot(connections, findWrongStates)),
      ...(await findChanged(connections, SEALED_KEYS)),
    ]
  }
  const ids = await connections.query({
    text: 'select id from session where id = coalesce($1, id) order by n',
    values: [sessionId === undefined ? null : toText(sessionId)],
  })
  const findings: StoreFinding[] = []
  for (const row of ids) {
    const id = row['id'] as SessionId
    findings.push(...(await inSnapshot(connections, (loan) => verifySession(loan, id))))
  }
  return withoutRepeats([
    ...findings,
    ...(await inSnapshot(connections, (loan) => verifyAudit(loan, sessionId))),
    ...(await findStrays(connections, sessionId)),
    ...(sessionId === undefined ? await findChanged(connections, ALL_SEALED_KEYS) : []),
    ...(await findKeysWithoutMail(connections, sessionId)),
  ])
}

/** For a store that is too large to be checked whole: a list leaves such sessions out in silence. */
async function findWrongStates(loan: LoanedClient): Promise<readonly StoreFinding[]> {
  const text = "select id, state from session where state <> 'open' order by n"
  const [rows = []] = await loan.send([{ text }])
  const wrong = await findNotDeleted((queries) => loan.send(queries), rows)
  return (rows as unknown as Pick<SessionRow, 'id' | 'state'>[])
    .filter(({ id }) => wrong.has(id))
    .map(stateFinding)
}

async function verifySession(loan: LoanedClient, id: SessionId): Promise<readonly StoreFinding[]> {
  const [[row] = []] = await loan.send([
    { text: `select ${POSTGRES.session.columns} from session where id = $1`, values: [id] },
  ])
  if (row === undefined) return []
  let session: SessionRow
  try {
    session = POSTGRES.session.decodeChanged(row)
  } catch (error) {
    return [unreadableSession(id, error)]
  }
  const check = new SessionCheck(session, await prefixOf(loan, session))
  check.addWork(row['work'] === true)
  if (!POSTGRES.session.isWhole(row)) check.addChanged(CHANGED_SESSION)
  for await (const page of pages(loan, `select ${POSTGRES.entry.columns} from entry`, id)) {
    for (const columns of page) {
      const entry = orUnreadable(() => POSTGRES.entry.decode(columns))
      if (entry === null) check.addUnreadableEntry(columns['number'] as EntryNumber)
      else check.addEntry(entry)
    }
  }
  for await (const page of pages(loan, `select ${POSTGRES.mail.columns} from mail`, id)) {
    const mails = page.map((columns) => orUnreadable(() => POSTGRES.mail.decodeChanged(columns)))
    const memories = await readMemories(loan, id, mails)
    for (const [index, columns] of page.entries()) {
      const mail = mails[index] ?? null
      if (mail === null) check.addUnreadableMail(columns['number'] as MailNumber)
      else check.addMail(mail, memories[index], POSTGRES.mail.isWhole(columns))
    }
  }
  // Hashed on the server, because they may be large.
  const [blobs = [], operations = [], senders = []] = await loan.send([
    {
      text: `select ${SEALED_BLOB}, sha256(bytes) = hash as fits from blob where session = $1`,
      values: [id],
    },
    ...(['operation', 'sender'] as const).map((table) => ({
      text: `select ${POSTGRES[table].columns} from ${table} where session = $1`,
      values: [id],
    })),
  ])
  for (const row of blobs) {
    const hash = (row['hash'] as Buffer).toString('hex')
    check.addBlob(hash, row['fits'] === true)
    if (!POSTGRES.blob.isWhole(row)) check.addChanged(changedBlob(hash))
  }
  for (const row of operations) {
    if (!POSTGRES.operation.isWhole(row)) check.addChanged(changedOperation(row['id']))
  }
  for (const row of senders) {
    if (!POSTGRES.sender.isWhole(row)) check.addChanged(CHANGED_SENDER)
  }
  const [emptied = []] = await loan.send([
    {
      text: `select number from lineage($1) as line join entry on session = keeper
          and number between first and last and body is null order by number`,
      values: [id],
    },
  ])
  const numbers = emptied.map(({ number }) => number as number)
  for (const number of await findUnrecorded((queries) => loan.send(queries), session, numbers)) {
    check.addUnrecorded(number)
  }
  return check.end()
}

async function prefixOf(
  loan: LoanedClient,
  { id, origin, forkedAt }: SessionRow,
): Promise<Prefix | undefined> {
  if (origin === null) return undefined
  const [[last] = [], folded = []] = await loan.send([
    {
      text: `select encode(hash, 'hex') as hash from entry where session = $1 and number = $2`,
      values: [origin, forkedAt],
    },
    {
      text: `select ${POSTGRES_HEAD_COLUMNS} from lineage($1) as line join entry
          on session = keeper and number between first and last and number <= $2
        where kind not in ('input', 'assistant', 'result', 'turn') order by number`,
      values: [id, forkedAt],
    },
  ])
  const hash = (last?.['hash'] ?? null) as string | null
  return { folded: folded.map(POSTGRES.entry.decode), hash }
}

/** By keys rather than by counting to the tail, since a damaged tail may be any number. */
async function* pages(
  loan: LoanedClient,
  select: string,
  id: SessionId,
): AsyncIterable<readonly Columns[]> {
  for (let last: unknown = 0; ; ) {
    const text = `${select} where session = $1 and number > $2 order by number limit ${PAGE}`
    const [page = []] = await loan.send([{ text, values: [id, last] }])
    yield page
    if (page.length < PAGE) return
    last = page.at(-1)?.['number']
  }
}

/** The key record of each item, in order. */
export async function readMemories(
  loan: LoanedClient,
  id: SessionId,
  mails: readonly (MailRow | null)[],
): Promise<readonly (KeyMemory | undefined)[]> {
  const keys = mails.map((mail) => mail && keyHashOf(mail))
  const wanted = keys.filter((key) => key !== null)
  if (wanted.length === 0) return []
  const [rows = []] = await loan.send([
    {
      text: `select ${POSTGRES.intake.columns} from intake where key_hash = any($1)`,
      values: [wanted.map(toBytes)],
    },
  ])
  const known = new Map(rows.map((row) => [(row['key_hash'] as Buffer).toString('hex'), row]))
  return mails.map((mail, index) =>
    mail === null ? undefined : memoryOf(known.get(keys[index] ?? ''), id, mail.number),
  )
}

function memoryOf(
  row: Columns | undefined,
  id: SessionId,
  number: MailNumber,
): KeyMemory | undefined {
  if (row === undefined) return undefined
  const { bodyHash, ...memory } = POSTGRES.intake.decodeChanged(row)
  return { bodyHash, isOwn: memory.sessionId === id && memory.number === number }
}

/** In one snapshot with the sessions' counters, because each commit writes both. */
async function verifyAudit(
  loan: LoanedClient,
  only: SessionId | undefined,
): Promise<readonly StoreFinding[]> {
  const [[store = {}] = []] = await loan.send([CHAIN_END])
  const { id, commits, hash } = store as { id: string; commits: number; hash: string }
  const check = new AuditCheck(id)
  for (let last: unknown = 0; ; ) {
    const text = `select ${AUDIT_COLUMNS} from audit where cursor > $1 order by cursor limit $2`
    const [page = []] = await loan.send([{ text, values: [last, PAGE] }])
    for (const columns of page) {
      check.add(
        columns['cursor'] as number,
        orUnreadable(() => decodeAudit(columns)),
      )
    }
    if (page.length < PAGE) break
    last = page.at(-1)?.['cursor']
  }
  check.endAt({ commits, hash })
  const [unlinked = [], sessions = []] = await loan.send([
    { text: `select ${AUDIT_COLUMNS} from audit where cursor is null order by id`, values: [] },
    {
      text: `select id, agent, scope, birth, state, created_at as "createdAt", tail, mail, fence, title,
        title_salt as "titleSalt" from session`,
      values: [],
    },
  ])
  for (const { line } of unlinked) {
    const columns = { line, cursor: 0, hash: Buffer.alloc(0) }
    const row = orUnreadable(() => decodeAudit(columns))
    if (row !== null) check.addUnlinked(row)
  }
  const counted = sessions.map(({ title, ...row }) => ({
    ...row,
    agent: fromText(String(row['agent'])),
    scope: fromText(String(row['scope'])),
    title: title === null ? null : fromText(String(title)),
  }))
  return check.end(counted as unknown as Counted[], only)
}

const OF_SESSIONS = ['entry', 'mail', 'blob', 'operation', 'route', 'intake']

/** Rows without a session row. */
async function findStrays(
  connections: Connections,
  only: SessionId | undefined,
): Promise<readonly StoreFinding[]> {
  const rows = await connections.query({
    text: `select session, string_agg(what, ', ' order by what) as what from (${OF_SESSIONS.map(
      (table) => `select distinct session, '${table}' as what from ${table}`,
    ).join(' union all ')}) as found
      where not exists (select from session where id = found.session)
        and session = coalesce($1, session) group by session order by session`,
    values: [only === undefined ? null : toText(only)],
  })
  return rows.map(({ session, what }) => {
    const problem = `rows of a session that is not there: ${what}`
    return { sessionId: session as SessionId, entry: null, problem }
  })
}

const ALL_SEALED_KEYS = { ...SEALED_KEYS, ...MANY_SEALED_KEYS } as const

/** Rows that are not as they were written. They are in no chain, but each has a hash of itself. */
async function findChanged(
  connections: Connections,
  keys: Partial<typeof ALL_SEALED_KEYS>,
): Promise<readonly StoreFinding[]> {
  const findings: StoreFinding[] = []
  for (const table of Object.keys(keys) as (keyof typeof keys)[]) {
    const key = ALL_SEALED_KEYS[table]
    const { columns, isWhole } = POSTGRES[table]
    const names = key.join(', ')
    for (let last: unknown[] = []; ; ) {
      const places = key.map((_, at) => `$${at + 1}`).join(', ')
      const after = last.length === 0 ? '' : `where (${names}) > (${places})`
      const page = await connections.query({
        text: `select ${columns} from ${table} ${after} order by ${names} limit ${PAGE}`,
        values: last,
      })
      const keyOf = (row: Columns) => key.map((name) => row[name])
      for (const row of page)
        if (!isWhole(row)) findings.push(changedRow(table, nameOf(table, row, keyOf(row))))
      last = keyOf(page.at(-1) ?? {})
      if (page.length < PAGE) break
    }
  }
  return findings
}

/** A row as people know it. */
function nameOf(table: string, { session, number }: Columns, key: readonly unknown[]) {
  return table === 'intake' ? [number, 'of session', session] : key
}

/** A key whose mail is missing: a repeat of that mail would be reported as a duplicate. */
async function findKeysWithoutMail(
  connections: Connections,
  only: SessionId | undefined,
): Promise<readonly StoreFinding[]> {
  const rows = await connections.query({
    text: `select id, mail, max(number) as number from intake join session on id = session
      where id = coalesce($1, id) group by id, mail having max(number) > mail order by id`,
    values: [only === undefined ? null : toText(only)],
  })
  return rows.map(({ id, mail, number }) => {
    const problem = `a key names mail ${number}, but the session knows only ${mail}`
    return { sessionId: id as SessionId, entry: null, problem }
  })
}
