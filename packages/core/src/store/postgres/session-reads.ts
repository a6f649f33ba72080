import type { SessionId } from '../../base/ids.ts'
import { LIST_MAX } from '../bounds.ts'
import { contextEntries } from '../context.ts'
import type { Reads } from '../contract.ts'
import { planLook } from '../look.ts'
import { mailState } from '../mail-state.ts'
import type { ContextEntries, ListMail, Look, Looked, MailItem, ReadEntries } from '../queries.ts'
import type { Entry, Lane, SessionRow } from '../tables/rows.ts'
import {
  checkedContext,
  checkedEntries,
  checkedMail,
  checkedSingles,
  checkMemory,
  hashBeforeIn,
} from '../verify/answers.ts'
import type { LoanedClient, Query } from './connections/connections.ts'
import { checkEmptied, checkedDeletions, type SendQueries } from './erasures/records.ts'
import { type Columns, POSTGRES, POSTGRES_HEAD_COLUMNS, toText } from './tables.ts'
import { readMemories } from './verify.ts'

/** The reads of one session that need several statements, inside a snapshot that the caller opens. */

/** The entries of a session, including those that a fork reads from other sessions. */
const OF_LINE =
  'lineage($1) as line join entry on entry.session = line.keeper and number between line.first and line.last'

export async function readEntriesIn(
  loan: LoanedClient,
  { sessionId, from, to, kind }: ReadEntries,
): Promise<readonly Entry[]> {
  const id = toText(sessionId)
  if (kind !== undefined) {
    // The last condition excludes nothing; it lets the server use the partial index of the folded
    // kinds.
    const text = `select ${POSTGRES.entry.columns} from ${OF_LINE} and number between $2 and $3
      where kind = $4
        and kind not in ('input', 'assistant', 'result', 'turn') order by number limit $5`
    const [owner = [], rows = []] = await loan.send([
      sessionQuery(sessionId),
      { text, values: [id, from, to, kind, LIST_MAX] },
    ])
    const session = await sessionIn(loan, owner)
    if (session === undefined || rows.length === 0) return []
    const found = rows.map(POSTGRES.entry.decode)
    const [before = []] = await loan.send([
      beforeQuery(
        sessionId,
        found.map(({ number }) => number),
      ),
    ])
    const entries = checkedSingles(sessionId, found, hashBeforeIn(session, hashesIn(before)))
    return await checkEmptied(sendTo(loan), session, entries)
  }
  const [owner = [], page = [], before = []] = await loan.send([
    sessionQuery(sessionId),
    {
      text: `select ${POSTGRES.entry.columns} from ${OF_LINE} and number between $2 and $3
        order by number`,
      values: [id, from, Math.min(to, from + LIST_MAX - 1)],
    },
    beforeQuery(sessionId, [from]),
  ])
  const session = await sessionIn(loan, owner)
  if (session === undefined) return []
  const found = page.map(POSTGRES.entry.decode)
  const entries = checkedEntries(
    session,
    { from, to },
    found,
    hashBeforeIn(session, hashesIn(before)),
  )
  return await checkEmptied(sendTo(loan), session, entries)
}

/** The hashes of the entries before these, and of one after the tail. */
export function beforeQuery(id: SessionId, numbers: readonly number[]): Query {
  return {
    text: `select number, encode(hash, 'hex') as hash from ${OF_LINE} and number = any($2)
      union all select number, encode(hash, 'hex') from entry where session = $1
        and number = (select tail + 1 from session where id = $1)`,
    values: [toText(id), numbers.map((number) => number - 1)],
  }
}

export function hashesIn(rows: readonly Columns[]): ReadonlyMap<number, string> {
  return new Map(rows.map(({ number, hash }) => [Number(number), hash as string]))
}

export const sendTo = (loan: LoanedClient): SendQueries => {
  return (queries) => loan.send(queries)
}

export function sessionQuery(id: SessionId): Query {
  const text = `select ${POSTGRES.session.columns} from session where id = $1`
  return { text, values: [toText(id)] }
}

export async function sessionIn(
  loan: LoanedClient,
  rows: readonly Columns[],
): Promise<SessionRow | undefined> {
  return (await checkedDeletions(sendTo(loan), rows)).map(POSTGRES.session.decode)[0]
}

/** The fold's heads determine which rows it needs, so it runs twice: first to find out which. */
export async function readContext(
  loan: LoanedClient,
  { sessionId, upto }: Parameters<Reads['readContext']>[0],
): Promise<ContextEntries | null> {
  const [owner = [], folded = []] = await loan.send([
    sessionQuery(sessionId),
    {
      text: `select ${POSTGRES_HEAD_COLUMNS} from ${OF_LINE}
        and number <= greatest($2, (select settings from session where id = $1))
        where kind not in ('input', 'assistant', 'result', 'turn') order by number`,
      values: [toText(sessionId), upto ?? Number.MAX_SAFE_INTEGER],
    },
  ])
  const session = await sessionIn(loan, owner)
  if (session === undefined) return null
  const heads: readonly Entry[] = folded.map(POSTGRES.entry.decode)
  let numbers: readonly number[] = []
  let span = [0, 0]
  contextEntries(session, upto ?? session.tail, {
    folded: () => heads,
    numbers: (wanted) => {
      numbers = wanted
      return []
    },
    range: (after, last) => {
      span = [after, last]
      return []
    },
  })
  const [early = [], late = [], before = []] = await loan.send([
    {
      text: `select ${POSTGRES.entry.columns} from ${OF_LINE} and number = any($2) order by number`,
      values: [toText(sessionId), numbers],
    },
    {
      text: `select ${POSTGRES.entry.columns} from ${OF_LINE} and number > $2 and number <= $3
        order by number`,
      values: [toText(sessionId), ...span],
    },
    beforeQuery(sessionId, [...numbers, (span[0] ?? 0) + 1]),
  ])
  const context = contextEntries(session, upto ?? session.tail, {
    folded: () => heads,
    numbers: () => early.map(POSTGRES.entry.decode),
    range: () => late.map(POSTGRES.entry.decode),
  })
  const hashBefore = hashBeforeIn(session, hashesIn(before))
  const checked = checkedContext(context, heads, upto ?? session.tail, hashBefore)
  await checkEmptied(sendTo(loan), session, checked.entries)
  return checked
}

export async function lookAt(loan: LoanedClient, query: Look): Promise<Looked | undefined> {
  const [owner = []] = await loan.send([sessionQuery(query.sessionId)])
  const session = await sessionIn(loan, owner)
  if (session === undefined) return undefined
  const { added, mail, operations } = planLook(query, session)
  const waiting = async (lane: Lane) =>
    mail[lane] === null ? [] : await mailOf(loan, session, mail[lane])
  const [listed = []] = operations === null ? [] : await loan.send([operationsQuery(operations)])
  return {
    session,
    added: added === null ? [] : await readEntriesIn(loan, added),
    mail: {
      control: await waiting('control'),
      user: await waiting('user'),
      notification: await waiting('notification'),
    },
    operations: operations === null ? null : listed.map(POSTGRES.operation.decode),
  }
}

export function operationsQuery({
  sessionId,
  limit,
}: Parameters<Reads['listOperations']>[0]): Query {
  return {
    text: `select ${POSTGRES.operation.columns} from operation where session = $1
      order by n desc limit $2`,
    values: [toText(sessionId), Math.min(limit, LIST_MAX)],
  }
}

export async function listMail(loan: LoanedClient, query: ListMail): Promise<readonly MailItem[]> {
  const [owner = []] = await loan.send([sessionQuery(query.sessionId)])
  const session = await sessionIn(loan, owner)
  return session === undefined ? [] : await mailOf(loan, session, query)
}

async function mailOf(
  loan: LoanedClient,
  session: SessionRow,
  query: ListMail,
): Promise<readonly MailItem[]> {
  const [found = []] = await loan.send([mailQuery(session, query)])
  const mails = checkedMail(session, query, found.map(POSTGRES.mail.decode))
  const memories = await readMemories(loan, session.id, mails)
  return mails.map((mail, index) => {
    checkMemory(session, mail, memories[index])
    return { ...mail, state: mailState(session, mail) }
  })
}

function mailQuery(session: SessionRow, query: ListMail): Query {
  const { lane, state, after = 0, limit } = query
  const most = Math.min(limit, LIST_MAX)
  if (state === 'pending' && lane !== undefined) return pendingQuery(session, lane, after, most)
  const { settled, delivered } = session
  return {
    text: `select ${POSTGRES.mail.columns} from mail
      where session = $1 and number > $2 and lane = coalesce($3, lane)
        and coalesce($4, '') in ('', case
          when state = 'withdrawn' then 'withdrawn'
          when lane = 'control' then case state when 'settled' then 'settled' else 'pending' end
          when number <= case lane when 'user' then $5::bigint else $6::bigint end then 'settled'
          when number <= case lane when 'user' then $7::bigint else $8::bigint end then 'delivered'
          else 'pending' end)
      order by number limit $9`,
    values: [
      toText(session.id),
      after,
      lane ?? null,
      state ?? null,
      settled.user,
      settled.notification,
      delivered.user,
      delivered.notification,
      most,
    ],
  }
}

/**
 * Pending input lies after its cursor, and settled controls are not `admitted`, so finding new mail
 * does not read old mail.
 */
function pendingQuery(session: SessionRow, lane: Lane, after: number, most: number): Query {
  const first = lane === 'control' ? after : Math.max(after, session.delivered[lane])
  return {
    text: `select ${POSTGRES.mail.columns} from mail
      where session = $1 and lane = $2 and state = 'admitted' and number > $3
      order by number limit $4`,
    values: [toText(session.id), lane, first, most],
  }
}
